// Packs the package, and makes the application that has it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { app, installed, tarball, workshop } from "./app.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

rmSync(workshop, { recursive: true, force: true });
mkdirSync(installed, { recursive: true });
cpSync(path("app"), app, { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", workshop], { cwd: path("../../web"), stdio: ["ignore", "ignore", "inherit"] });
execFileSync("tar", ["-xzf", tarball(), "-C", installed, "--strip-components=1"]);
