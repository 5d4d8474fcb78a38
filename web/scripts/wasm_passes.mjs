// The module once more through Binaryen: without the exports that nobody asks for there is more to be left out, and which order
// of passes leaves the least, compressed, nobody can tell beforehand.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";

const features = ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals"].map((name) => `--enable-${name}`);
const flat = "--flatten --rereloop";
const flatter = `${flat} --flatten --simplify-locals-notee-nostructure`;
const orders = [
  `${flatter} -Oz --coalesce-locals -Oz`,
  `${flatter} --precompute -O3 -Oz`,
  `${flat} -Oz -Oz --converge`,
  `${flat} -O3 -O3 ${flat} --code-folding -O3`,
];

/** The bytes of the smallest that `file` becomes. */
export function smallest(file) {
  const made = `${file}.passed`;
  const modules = orders.map((order) => {
    execFileSync("wasm-opt", [...features, ...order.split(" "), file, "-o", made], { stdio: "inherit" });
    return readFileSync(made);
  });
  rmSync(made);
  const size = (module) => brotliCompressSync(module).length;
  return modules.reduce((best, module) => (size(module) < size(best) ? module : best));
}
