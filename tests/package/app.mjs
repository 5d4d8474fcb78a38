// An application with the package in its node_modules/, as `npm install` of the packed tarball leaves it: where it is.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where it is made, and what is built from it: folders, with a slash at their end. */
export const workshop = fileURLToPath(new URL("../../build/package/", import.meta.url));
export const app = `${workshop}app/`;
export const installed = `${app}node_modules/tidemark/`;
export const tarball = () => workshop + readdirSync(workshop).find((name) => name.endsWith(".tgz"));
