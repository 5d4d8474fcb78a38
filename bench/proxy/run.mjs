// The proxy beside nginx (`proxy_buffering off`) in front of the same simulated upstream, on one machine, in turn.
//   node bench/proxy/run.mjs [--program build/release/tidemark] [--rounds 2000] [--streams 200] [--idle 1000]
// Prints: time from a request to its first event, through each and without either; processor time of each for the same
// paced streams; what an open idle stream costs in memory. Needs nginx on the PATH.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../tests/e2e/line.mjs";

const { values: given } = parseArgs({
  options: {
    program: { type: "string", default: "build/release/tidemark" },
    rounds: { type: "string", default: "2000" },
    streams: { type: "string", default: "200" },
    idle: { type: "string", default: "1000" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "tidemark-bench-"));
const children = [];

async function start(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = await once(child.stdout, "data");
  return { pid: child.pid, port: Number(/:(\d+)\s*$/.exec(String(line))[1]) };
}

async function startNginx(upstream) {
  const port = await freePort();
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events { worker_connections 8192; }
     http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
       uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; keepalive_requests 1000000;
       upstream up { server 127.0.0.1:${upstream}; keepalive 64; keepalive_requests 1000000; }
       server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_buffering off;
         proxy_set_header Connection ""; } } }`,
  );
  const child = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "inherit" });
  children.push(child);
  for (;;) {
    try {
      await ask(port, new Agent());
      return { pid: child.pid, port };
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] });

/** A request, read to its end; resolves to milliseconds until the first `data:` line. */
function ask(port, agent) {
  return new Promise((resolve, reject) => {
    const begun = process.hrtime.bigint();
    let first;
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = request({ host: "127.0.0.1", port, path: "/v1/chat/completions", method: "POST", agent, headers }, (response) => {
      response.on("data", (chunk) => {
        if (first === undefined && chunk.includes("data:")) first = Number(process.hrtime.bigint() - begun) / 1e6;
      });
      response.on("end", () => resolve(first));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Opens a stream and leaves it open: resolves at its first event. */
function hold(port, agent) {
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port, path: "/v1/chat/completions", method: "POST", agent, headers: { "content-type": "application/json" } }, (response) => {
      response.once("data", () => resolve(call));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Seconds of processor time that a process has used. */
function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
function residentKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
const shown = (times) => {
  times.sort((a, b) => a - b);
  return `median ${quantile(times, 0.5).toFixed(3)} ms, quartiles ${quantile(times, 0.25).toFixed(3)}-${quantile(times, 0.75).toFixed(3)}, 99 % ${quantile(times, 0.99).toFixed(3)}`;
};

async function firstEvent(contestants) {
  const agents = new Map(contestants.map(({ name }) => [name, new Agent({ keepAlive: true, maxSockets: 1 })]));
  const times = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = -50; round < Number(given.rounds); ++round) {
    for (const { name, port } of contestants) {
      const ms = await ask(port, agents.get(name));
      if (round >= 0) times.get(name).push(ms);
    }
  }
  for (const agent of agents.values()) agent.destroy();
  console.log(`request to first event, ${given.rounds} in turn:`);
  for (const [name, list] of times) console.log(`  ${name}: ${shown(list)}`);
  const median = (name) => quantile(times.get(name), 0.5);
  console.log(`  tidemark above nginx, medians: ${(median("tidemark") - median("nginx")).toFixed(3)} ms`);
}

async function processorTime(contestants, paced) {
  console.log(`processor time for ${given.streams} paced streams at once, five rounds in turn:`);
  const used = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < 5; ++round) {
    for (const { name, pid, port } of contestants) {
      const agent = new Agent({ keepAlive: false });
      const before = cpu(pid);
      await Promise.all(Array.from({ length: Number(given.streams) }, () => ask(port, agent)));
      used.get(name).push(cpu(pid) - before);
    }
  }
  for (const [name, list] of used) console.log(`  ${name}: ${list.map((s) => s.toFixed(2)).join(", ")} s`);
}

async function memory({ pid, port }) {
  const agent = new Agent({ keepAlive: false });
  const held = [];
  const open = async (count) => held.push(...(await Promise.all(Array.from({ length: count }, () => hold(port, agent)))));
  await open(100);  // buffers that all streams share
  const before = residentKb(pid);
  await open(Number(given.idle));
  console.log(`memory of an open idle stream: ${((residentKb(pid) - before) / Number(given.idle)).toFixed(1)} kB (${given.idle} of them)`);
  for (const call of held) call.destroy();
}

try {
  const quick = await start(given.program, ["simulate", "--listen", "127.0.0.1:0", "--interval", "0"]);
  const nginx = { name: "nginx", ...(await startNginx(quick.port)) };
  const serve = (port) => start(given.program, ["serve", "--listen", "127.0.0.1:0", "--log-level", "off", "--upstream", `http://127.0.0.1:${port}`]);
  const tidemark = { name: "tidemark", ...(await serve(quick.port)) };
  await firstEvent([{ name: "direct", port: quick.port }, nginx, tidemark]);

  const paced = await start(given.program, ["simulate", "--listen", "127.0.0.1:0", "--interval", "20"]);
  await processorTime([{ name: "nginx", ...(await startNginx(paced.port)) }, { name: "tidemark", ...(await serve(paced.port)) }]);

  const stalled = await start(given.program, ["simulate", "--listen", "127.0.0.1:0", ...Array.from({ length: Number(given.idle) + 100 }, () => ["--fault", "stall-after=5"]).flat()]);
  await memory(await serve(stalled.port));
} finally {
  for (const child of children) child.kill("SIGKILL");
}
