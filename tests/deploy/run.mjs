// Runs the tests of deploy/, with a certificate that is made for this and that they trust. With names as arguments only
// those files: node tests/deploy/run.mjs redis
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tidemark-deploy-"));
const certificate = join(folder, "certificate.pem");
const names = "subjectAltName=IP:127.0.0.1";
const keyFile = join(folder, "key.pem");
const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile, "-out", certificate];
try {
  execFileSync("openssl", ["req", "-x509", ...made, "-days", "2", "-subj", "/CN=tidemark", "-addext", names], { stdio: ["ignore", "ignore", "pipe"] });
  const only = process.argv.slice(2).map((name) => `${name}.test.mjs`);
  const files = readdirSync(here).filter((name) => name.endsWith(".test.mjs") && (only.length === 0 || only.includes(name)));
  const { status } = spawnSync(process.execPath, ["--test", "--test-force-exit", "--test-reporter=spec", "--test-concurrency=1", ...files.map((name) => join(here, name))], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate, TIDEMARK_CERTIFICATE: certificate, TIDEMARK_CERTIFICATE_KEY: keyFile },
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
