// Applications with the package and one framework each: what the adapters are tested in.
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));

// Name in the application -> name here.
const react = { react: "react", "react-dom": "react-dom", scheduler: "scheduler", "@types/react": "@types/react", csstype: "csstype" };
const react18 = {
  react: "react-18",
  "react-dom": "react-dom-18",
  "@types/react": "types-react-18",
  "@types/prop-types": "@types/prop-types",
  csstype: "csstype",
};
const stacks = {
  "react-18": { example: "react", packages: react18 },
  "react-19": { packages: react },
  vue: { packages: {}, linked: ["vue"] },
};

/** Makes `folder`NAME/ for each, with `tidemark`, the installed package, in its node_modules/. */
export function makeStacks(folder, tidemark) {
  for (const [name, { example, packages, linked = [] }] of Object.entries(stacks)) {
    const modules = `${folder}${name}/node_modules/`;
    mkdirSync(modules, { recursive: true });
    if (example !== undefined) cpSync(path(`examples/${example}/main.jsx`), `${folder}${name}/main.jsx`);
    cpSync(tidemark, `${modules}tidemark`, { recursive: true });
    // Copied, since from where they lie one version would find the other.
    for (const [to, from] of Object.entries(packages)) {
      cpSync(path(`node_modules/${from}`), `${modules}${to}`, { recursive: true });
    }
    for (const each of linked) symlinkSync(path(`node_modules/${each}`), `${modules}${each}`);
  }
}
