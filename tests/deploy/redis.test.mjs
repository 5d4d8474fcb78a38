// Redis with deploy/redis.conf: who may do what in it, and that nothing is thrown away.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { root } from "../e2e/start.mjs";
import { deployed } from "./adapted.mjs";
import { missing, openRedis } from "./site.mjs";

describe("Redis", { skip: missing("redis-server"), timeout: 60000 }, () => {
  let folder;
  let redis;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "tidemark-redis-"));
    redis = await openRedis(folder);
  });
  after(async () => {
    await redis?.process.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const notRefused = (answers) => answers.filter((answer) => !/^(NOPERM|NOAUTH|WRONGPASS) |^ERR The user executing the script can't /.test(answer));

  test("nobody gets in without a password, nor with the one of the file as it is", () => {
    const answers = redis.ask("", "PING", "KEYS *", "AUTH x", "AUTH tidemark x", "AUTH tidemark 0", "AUTH admin 1");
    assert.equal(answers.length, 6);
    assert.deepEqual(notRefused(answers), []);
  });

  test("the proxy's user reads and writes its own keys", () => {
    const answers = redis.ask("tidemark", "SET tidemark:replica:a 1 PX 60000", "XADD tidemark:{n}:events 1-1 e x", "XRANGE tidemark:{n}:events - +", "DEL tidemark:{n}:events");
    assert.deepEqual(answers, ["OK", "1-1", "1-1", "e", "x", "1"]);
  });

  test("and nothing else", () => {
    redis.ask("admin", "SET other secret", "XADD others 1-1 a b", "HSET other:{n}:stream a b");
    const commands = [
      "SET other 1",
      "GET other",
      "DEL other",
      "EXISTS other",
      "PEXPIRE other 1",
      "HGETALL other:{n}:stream",
      "XRANGE others - +",
      "XADD others 2-1 a b",
      "XREAD STREAMS tidemark:{n}:events others 0 0",
      "SET tidemark 1",
      "KEYS *",
      "SCAN 0",
      "RANDOMKEY",
      "FLUSHALL",
      "FLUSHDB",
      "CONFIG GET *",
      "CONFIG SET appendonly no",
      "ACL LIST",
      "ACL SETUSER tidemark allkeys",
      "CLIENT LIST",
      "CLIENT KILL TYPE normal",
      "MONITOR",
      "REPLICAOF NO ONE",
      "SHUTDOWN NOSAVE",
      "BGREWRITEAOF",
      "SCRIPT FLUSH",
      "EVAL 'return 1' 0",
      "PUBLISH tidemark:a b",
      "SUBSCRIBE tidemark:a",
      "GET tidemark:replica:a",
    ];
    const answers = redis.ask("tidemark", ...commands);
    assert.deepEqual(notRefused(answers), []);
    assert.equal(answers.length, commands.length);
    assert.deepEqual(redis.ask("admin", "GET other"), ["secret"]);
  });

  test("nor by a script", () => {
    const [script] = redis.ask("tidemark", `SCRIPT LOAD "return redis.call('XLEN', KEYS[1])"`);
    const [allowed] = redis.ask("tidemark", `SCRIPT LOAD "return redis.call('HGET', KEYS[1], 'a')"`);
    const [undeclared] = redis.ask("tidemark", `SCRIPT LOAD "return redis.call('HGET', 'other:{n}:stream', 'a')"`);
    const answers = redis.ask("tidemark", `EVALSHA ${script} 1 tidemark:{n}:events`, `EVALSHA ${allowed} 1 other:{n}:stream`, `EVALSHA ${undeclared} 0`);
    assert.equal(answers.length, 3);
    assert.deepEqual(notRefused(answers), []);
  });

  test("it has no right that the proxy has no use for", () => {
    const [, rules] = deployed("redis.conf").match(/^user tidemark (.+)$/m);
    const files = ["native/log", "native/redis"].flatMap((directory) => readdirSync(join(root, directory)).map((name) => join(root, directory, name)));
    const sources = files.filter((name) => /redis.*\.cpp$/.test(name)).map((name) => readFileSync(name, "utf8")).join("");
    const rights = rules.split(" ").filter((rule) => rule.startsWith("+"));
    assert.ok(rights.length > 10);
    for (const right of rights) {
      for (const word of right.slice(1).toUpperCase().split("|")) assert.match(sources, new RegExp(`["']${word}["']`), right);
    }
  });

  test("when its memory is full it refuses to write, and keeps what it has", () => {
    const write = (id) => redis.ask("tidemark", `XADD tidemark:{full}:events ${id} e x`)[0];
    assert.equal(write("1-1"), "1-1");
    redis.ask("admin", "CONFIG SET maxmemory 1");
    assert.match(write("1-2"), /^OOM /);
    assert.deepEqual(redis.ask("tidemark", "XRANGE tidemark:{full}:events - +"), ["1-1", "e", "x"]);
    redis.ask("admin", "CONFIG SET maxmemory 1gb");
    assert.equal(write("1-2"), "1-2");
  });

  test("started again, it has what it had taken, also from scripts", async () => {
    const [script] = redis.ask("tidemark", `SCRIPT LOAD "redis.call('XADD', KEYS[1], '1-3', 'e', 'x') return redis.call('PEXPIRE', KEYS[1], 60000)"`);
    assert.deepEqual(redis.ask("tidemark", `EVALSHA ${script} 1 tidemark:{full}:events`), ["1"]);
    await redis.process.stop();
    await redis.start();
    assert.deepEqual(redis.ask("tidemark", "XRANGE tidemark:{full}:events - +"), ["1-1", "e", "x", "1-2", "e", "x", "1-3", "e", "x"]);
  });
});
