// Writes docs/faults.md.
import { writeFileSync } from "node:fs";
import { markdown, page } from "./page.mjs";

writeFileSync(page, markdown());
