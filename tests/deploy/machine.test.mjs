// The unit and the image of deploy/, as far as they can be tried without systemd as the first process and without a registry.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort } from "../e2e/line.mjs";
import { program, root, start } from "../e2e/start.mjs";
import { adapted, deployed } from "./adapted.mjs";
import { missing, secrets } from "./site.mjs";

const configurations = ["single.json", "replicas.json"];
const containerfile = deployed("Containerfile").replaceAll("\\\n", "");
const installs = [...containerfile.matchAll(/apt-get install -y --no-install-recommends ([^&\n]+)/g)];
const [buildPackages, runPackages] = installs.map(([, names]) => names.trim().split(/\s+/));

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-machine-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("both configurations are right, and name the variables of the environment file", () => {
  const env = { ...process.env, ...secrets };
  const named = new Set();
  for (const name of configurations) {
    execFileSync(program, ["check", "--config", join(root, "deploy", name)], { env });
    for (const [, variable] of deployed(name).matchAll(/env:([A-Z_]+)/g)) named.add(variable);
  }
  assert.deepEqual([...named].sort(), deployed("tidemark.env").match(/^[A-Z_]+(?==$)/gm).sort());
});

test("systemd finds nothing wrong with the unit", { skip: missing("systemd-analyze") }, () => {
  const unit = join(folder, "tidemark@.service");
  writeFileSync(unit, adapted("tidemark@.service", [["/usr/local/bin/tidemark", program]]));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", unit], { encoding: "utf8" });
  assert.deepEqual([status, stdout + stderr], [0, ""]);
});

test("systemd waits for longer than draining takes", () => {
  const [, patience] = deployed("tidemark@.service").match(/^TimeoutStopSec=(\d+)$/m);
  for (const name of configurations) {
    const [, drain] = deployed(name).match(/"drain_seconds": (\d+)/);
    assert.ok(Number(patience) >= Number(drain) + 5, name);
  }
});

test("the image is built of the packages and by the commands of scripts/", () => {
  const [line] = readFileSync(join(root, "scripts/packages"), "utf8").match(/^build-essential .+$/m);
  assert.equal(buildPackages.length, line.split(" ").length);
  for (const entry of line.split(" ")) assert.ok(entry.split("|").some((name) => buildPackages.includes(name)), entry);
  const steps = readFileSync(join(root, "scripts/build"), "utf8");
  for (const command of ["cmake --preset release", "cmake --build --preset release --target tidemark"]) {
    assert.ok(steps.includes(command) && containerfile.includes(command), command);
  }
});

test("what it copies is enough to configure the build", () => {
  const source = join(folder, "source");
  const copied = [...containerfile.matchAll(/^COPY ([^-].*) (\S+)$/gm)];
  assert.ok(copied.length > 0);
  for (const [, names, to] of copied) {
    for (const name of names.split(" ")) cpSync(join(root, name), join(source, to.endsWith("/") ? join(to, name) : to), { recursive: true });
  }
  const [, parameters] = containerfile.match(/cmake (--preset release [^&]+)&&/);
  execFileSync("cmake", parameters.trim().split(" "), { cwd: source, stdio: ["ignore", "ignore", "pipe"] });
});

const release = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
test("it has the libraries that the program asks for", { skip: !release.includes("VERSION_CODENAME=bookworm") && "not on Debian 12" }, () => {
  const libraries = [...execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/=> (\S+)/g)].map(([, file]) => `*${file}`);
  const needed = new Set(execFileSync("dpkg-query", ["-S", ...libraries], { encoding: "utf8" }).match(/^[^:]+/gm));
  // Those that every Debian has.
  for (const name of ["libc6", "libgcc-s1", "libstdc++6"]) needed.delete(name);
  assert.deepEqual([...needed, "ca-certificates"].sort(), runPackages.sort());
});

test("its health check is one", async () => {
  const [, check] = containerfile.match(/^HEALTHCHECK .* CMD (\[.+\])$/m);
  const [, parameters] = containerfile.match(/^CMD (\[.+\])$/m);
  const port = await freePort();
  const [command, ...rest] = JSON.parse(check.replace("/8787 ", `/${port} `));
  const health = () => spawnSync(command, rest, { timeout: 3000 }).status;
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify({ upstreams: [{ base_url: "http://127.0.0.1:9" }] }));
  const words = JSON.parse(parameters).map((word) => word.replace("/etc/tidemark/tidemark.json", config).replace("0.0.0.0:8787", `127.0.0.1:${port}`));
  const server = await start(program, ...words, "--log-level", "warning");
  try {
    assert.equal(health(), 0);
  } finally {
    await server.stop();
  }
  assert.notEqual(health(), 0);
});
