// The whole product on loopback: simulated upstream, proxy and page, and a Chromium to look at it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program, root, start } from "./start.mjs";

const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

export const launchBrowser = () =>
  chromium.launch({
    executablePath: process.env.TIDEMARK_CHROMIUM ?? "/usr/bin/chromium",
    headless: false,
    args: [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/**
 * `interval`: between the upstream's events, `firstByteMs`: how long the proxy gives a silent one, both in ms.
 * `upstreamBy`: where the proxy is to find the upstream, given its address.
 */
export async function openStage({ interval = 4, firstByteMs = 700, upstreamBy = (address) => address } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-e2e-"));
  const config = join(folder, "config.json");
  const running = [];
  const close = async () => {
    for (const each of running.reverse()) await each.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const upstream = await start(program, "simulate", "--listen", "127.0.0.1:0", "--interval", String(interval));
    running.push(upstream);
    writeFileSync(
      config,
      JSON.stringify({
        listen: "127.0.0.1:0",
        upstreams: [{ name: "simulated", base_url: await upstreamBy(upstream.address), continuation: ["prefix"] }],
        cors: { allow_origins: ["*"] },
        drain_seconds: 1,
        stream_first_byte_timeout_ms: firstByteMs,
      }),
    );
    const proxy = await start(program, "serve", "--config", config, "--log-level", "warning");
    running.push(proxy);
    const site = await start(
      process.execPath,
      join(root, "web/demo/serve.mjs"),
      "--proxy",
      proxy.address,
      "--upstream",
      upstream.address,
    );
    running.push(site);
    const browser = await launchBrowser();
    running.push({ stop: () => browser.close() });
    return { upstream: upstream.address, proxy: proxy.address, site: site.address, browser, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The built-in recording's text, as the upstream says it undisturbed. */
export async function recordedText(upstream) {
  const response = await fetch(`${upstream}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: "m", stream: true, messages: [] }),
  });
  return textOfEvents(await response.text());
}

/** What events of openai-chat say. */
export function textOfEvents(events) {
  const lines = events.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? "").join("");
}

/** A fresh page; errors of its scripts and its console are collected in `errors`. */
export async function openPage(stage, options = {}) {
  const context = await stage.browser.newContext(options);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // What a fault looks like from the browser is no error of the page's.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text());
  });
  await page.goto(stage.site);
  await page.waitForSelector("html[data-ready]");
  return { page, errors, close: () => context.close() };
}

/** Asks on the page, on the fault's own route where none is given; waits for the answer's end where `wait` is set. */
export async function ask(page, { fault = "none", route, wait = true } = {}) {
  await page.selectOption("#fault", fault);
  if (route !== undefined) await page.selectOption("#route", route);
  const count = await page.locator(".answer").count();
  await page.click("#send");
  const answer = page.locator(".answer").nth(count);
  if (wait) await page.waitForFunction((nth) => document.querySelectorAll(".answer")[nth]?.dataset.end, count, { timeout: 60000 });
  return answer;
}

export const textOf = (answer) => answer.locator("p").first().textContent();
