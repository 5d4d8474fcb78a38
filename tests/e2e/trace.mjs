// Chromium's own trace: what the main thread of a page did, and which frames were drawn.

const includedCategories = ["devtools.timeline", "viz"];

/**
 * What happened while `run` ran: `main`, the events of the page's main thread, and `drawn`, the times at which the browser
 * drew a frame. Microseconds.
 */
export async function traced(page, run) {
  const session = await page.context().browser().newBrowserCDPSession();
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const traceConfig = { recordMode: "recordAsMuchAsPossible", includedCategories };
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  try {
    // Tells the page's thread from those of the browser's own pages.
    await page.evaluate(() => console.timeStamp("from"));
    await run();
    await page.evaluate(() => console.timeStamp("to"));
  } finally {
    const complete = new Promise((done) => session.once("Tracing.tracingComplete", done));
    await session.send("Tracing.end");
    await complete;
    await session.detach();
  }
  const mark = (message) => events.find(({ name, args }) => name === "TimeStamp" && args.data?.message === message);
  const [from, to] = [mark("from"), mark("to")];
  const within = events.filter(({ ts }) => ts > from.ts && ts < to.ts);
  return {
    main: within.filter(({ pid, tid }) => pid === from.pid && tid === from.tid),
    drawn: within.filter(({ name, ph }) => name === "Display::DrawAndSwap" && ph !== "E").map(({ ts }) => ts),
  };
}
