// What docs/deploy.md describes, on loopback: a simulated upstream, Redis, two replicas and both front ends, started with the
// files of deploy/.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { freePort, openLine } from "../e2e/line.mjs";
import { program, start } from "../e2e/start.mjs";
import { adapted, deployed } from "./adapted.mjs";

const { TIDEMARK_CERTIFICATE: certificate, TIDEMARK_CERTIFICATE_KEY: certificateKey } = process.env;
const adminPassword = "who-looks-after-redis";
const addresses = ["127.0.0.1:8701", "127.0.0.1:8702"];

export const secrets = { OPENAI_API_KEY: "sk-of-the-model", CHAT_TOKEN: "a-token-of-the-pages", REDIS_PASSWORD: "the-log's" };

/** Where a program of Debian's is; undefined where it is not installed. Servers are not on everybody's PATH. */
const installed = (name) =>
  [...process.env.PATH.split(delimiter), "/usr/sbin"].map((folder) => join(folder, name)).find((file) => existsSync(file));
/** Why a test can't be run; false where it can. */
export const missing = (name) => installed(name) === undefined && `${name} is not installed`;

/** Starts a server that says nothing when it is ready: it is when it can be connected to. */
export async function startListening(command, parameters, port) {
  const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const output of [child.stdout, child.stderr]) output.on("data", (bytes) => (said += bytes));
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  while (!(await canConnect(port))) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}:\n${said}`);
    await soon();
  }
  return { said: () => said, stop: () => end("SIGTERM"), kill: () => end("SIGKILL"), signal: (signal) => child.kill(signal) };
}

function canConnect(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Asks until the answer is yes. */
export async function until(question) {
  while (!(await question())) await soon();
}

/** Redis, which can be killed and comes back under its address with what it had. */
export async function openRedis(site) {
  const folder = join(site, "redis");
  mkdirSync(folder);
  const port = await freePort();
  const file = join(folder, "redis.conf");
  const hashed = (password) => createHash("sha256").update(password).digest("hex");
  writeFileSync(
    file,
    adapted("redis.conf", [
      ["port 6379", `port ${port}`],
      ["/var/lib/redis", folder],
      ["#" + "0".repeat(64), "#" + hashed(secrets.REDIS_PASSWORD)],
      ["#" + "1".repeat(64), "#" + hashed(adminPassword)],
    ]),
  );
  const redis = { port };
  redis.start = async () => (redis.process = await startListening(installed("redis-server"), [file], port));
  /** What redis-cli says to commands, a line each, of one of the two users, or of nobody. */
  redis.ask = (user, ...commands) => {
    const who = user === "" ? [] : ["--user", user, "--no-auth-warning"];
    const env = { ...process.env, ...(user !== "" && { REDISCLI_AUTH: user === "admin" ? adminPassword : secrets.REDIS_PASSWORD }) };
    const said = execFileSync(installed("redis-cli"), ["-p", String(port), ...who], { env, input: commands.join("\n"), encoding: "utf8" });
    return said.split("\n").filter((line) => line !== "");
  };
  /** What the proxy's user has tried and may not. */
  redis.refusals = () => redis.ask("admin", "ACL LOG");
  await redis.start();
  return redis;
}

/** The command line of the unit, for one of its instances. */
export function unitCommand(config, port) {
  const [, line] = deployed("tidemark@.service").match(/^ExecStart=(.+)$/m);
  const [, host] = deployed("tidemark.env").match(/^TIDEMARK_HOST=(.+)$/m);
  const values = [
    ["/etc/tidemark/tidemark.json", config],
    ["${TIDEMARK_HOST}", host],
    ["%i", String(port)],
  ];
  const [path, ...parameters] = line.split(" ").map((word) => values.reduce((text, [from, to]) => text.replace(from, to), word));
  assert.equal(path, "/usr/local/bin/tidemark");
  return parameters;
}

export async function openSite() {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-site-"));
  const running = [];
  const keep = (server) => (running.push(server), server);
  const close = async () => {
    for (const server of running.reverse()) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    Object.assign(process.env, secrets);
    const upstream = keep(await start(program, "simulate", "--listen", "127.0.0.1:0", "--interval", "1"));

    const redis = await openRedis(folder);
    running.push({ stop: () => redis.process.stop() });
    const ports = [await freePort(), await freePort()];
    const configure = (port, flow) => {
      const file = join(folder, `${port}.json`);
      const text = adapted("replicas.json", [
        ["https://api.openai.com", flow.address],
        ["127.0.0.1:6379", `127.0.0.1:${redis.port}`],
        ['"keepalive_ms": 15000', '"keepalive_ms": 50'],
        ['"lease_ms": 3000', '"lease_ms": 500'],
      ]);
      writeFileSync(file, text);
      return file;
    };
    const replicas = [];
    for (const port of ports) {
      const flow = await openLine(upstream.address);
      running.push({ stop: () => flow.close() });
      const config = configure(port, flow);
      const replica = { address: `http://127.0.0.1:${port}`, flow };
      replica.restart = async () => (replica.process = await start(program, ...unitCommand(config, port), "--log-level", "warning"));
      replica.get = (path) => fetch(replica.address + path, { headers: { Authorization: `Bearer ${secrets.CHAT_TOKEN}` } });
      replica.isReady = async () => (await replica.get("/tidemark/readyz")).status === 200;
      replica.status = async () => (await replica.get("/tidemark/status")).json();
      await replica.restart();
      replicas.push(replica);
      running.push({ stop: () => replica.process.kill() });
    }
    const go = () => replicas.forEach(({ flow }) => flow.go());
    /** Holds what comes to a replica once that is so much: the first to which it does. */
    const holdAfter = async (size) => {
      const first = await Promise.race(replicas.map((replica) => replica.flow.holdAfter(size).then(() => replica)));
      // Of the others nothing is held.
      for (const { flow } of replicas.filter((each) => each !== first)) flow.hold(), flow.go();
      return first;
    };
    return { folder, upstream, holdAfter, go, redis, replicas, ports, keep, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** nginx, inside what the distribution's own nginx.conf says around it. */
export async function openNginx(site) {
  const port = await freePort();
  const folder = join(site.folder, "nginx");
  mkdirSync(folder);
  const file = join(folder, "tidemark.conf");
  const write = (more = []) =>
    writeFileSync(
      file,
      adapted("nginx.conf", [
        ["    listen 443 ssl http2;", `    listen 127.0.0.1:${port} ssl http2;`],
        ["/etc/nginx/tidemark.crt", certificate],
        ["/etc/nginx/tidemark.key", certificateKey],
        ["/var/log/nginx/tidemark.log", join(folder, "access.log")],
        ...more,
        ...addresses.map((address, i) => [address, `127.0.0.1:${site.ports[i]}`]),
      ]),
    );
  write();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  const main = join(folder, "nginx.conf");
  const log = join(folder, "error.log");
  // gzip for everything, as a machine's other sites may want it.
  writeFileSync(
    main,
    `${process.getuid() === 0 ? `user ${userInfo().username};` : ""}
     pid ${folder}/pid; error_log ${log} notice; worker_processes 2; events { worker_connections 768; }
     http { ${temporary.join(" ")} access_log off; gzip on; gzip_types *; gzip_min_length 0; include ${file}; }`,
  );
  const server = site.keep(await startListening(installed("nginx"), ["-c", main, "-e", log, "-g", "daemon off;"], port));
  let reloads = 0;
  const reload = async (values) => {
    write(values);
    ++reloads;
    server.signal("SIGHUP");
    // Two workers a time. They serve what they have.
    await until(() => readFileSync(log, "utf8").split("gracefully shutting down").length - 1 === 2 * reloads);
  };
  return {
    address: `https://127.0.0.1:${port}`,
    access: () => readFileSync(join(folder, "access.log"), "utf8"),
    /** `down`, and a reload. */
    takeOut(replica) {
      const server = `server ${addresses[site.replicas.indexOf(replica)]} max_fails=0;`;
      return reload([[server, server.replace(";", " down;")]]);
    },
    takeBack: () => reload([]),
  };
}

export async function openHaproxy(site) {
  const port = await freePort();
  const folder = join(site.folder, "haproxy");
  mkdirSync(folder);
  const file = join(folder, "haproxy.cfg");
  const pem = join(folder, "tidemark.pem");
  const control = join(folder, "admin.sock");
  writeFileSync(pem, readFileSync(certificate) + readFileSync(certificateKey));
  writeFileSync(
    file,
    adapted("haproxy.cfg", [
      ["    user haproxy\n", ""],
      ["    group haproxy\n", ""],
      ["    chroot /var/lib/haproxy\n", ""],
      ["    log /dev/log local0\n", "    log stdout format raw local0\n"],
      // What a machine of a developer lets a process open.
      ["maxconn 20000", "maxconn 200"],
      ["check inter 1s", "check inter 100ms"],
      ["/run/haproxy/admin.sock", control],
      ["bind :443 ssl crt /etc/haproxy/tidemark.pem", `bind 127.0.0.1:${port} ssl crt ${pem}`],
      ...addresses.map((address, i) => [address, `127.0.0.1:${site.ports[i]}`, 2]),
    ]),
  );
  const server = site.keep(await startListening(installed("haproxy"), ["-db", "-f", file], port));
  const ask = (command) =>
    new Promise((resolve, reject) => {
      let text = "";
      const socket = connect(control, () => socket.end(`${command}\n`));
      socket.on("data", (bytes) => (text += bytes)).on("end", () => resolve(text)).on("error", reject);
    });
  const nameOf = (replica) => `replica${site.replicas.indexOf(replica) + 1}`;
  return {
    address: `https://127.0.0.1:${port}`,
    access: () => server.said(),
    takeOut: (replica) => ask(`set server ready/${nameOf(replica)} state drain`),
    takeBack: (replica) => ask(`set server ready/${nameOf(replica)} state ready`),
    /** What it thinks of a replica: UP, DOWN, DRAIN, … */
    async state(replica, backend = "ready") {
      const [head, ...rows] = (await ask("show stat")).split("\n").map((line) => line.split(","));
      return rows.find((row) => row[0] === backend && row[1] === nameOf(replica))[head.indexOf("status")];
    },
  };
}
