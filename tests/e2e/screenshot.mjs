// Takes the README's picture: the page while a lost leg is being recovered. node tests/e2e/screenshot.mjs [FILE] [light|dark]
import { fileURLToPath } from "node:url";
import { ask, openPage, openStage } from "./stage.mjs";

const [file = fileURLToPath(new URL("../../docs/images/page-recovering.png", import.meta.url)), colorScheme = "light"] =
  process.argv.slice(2);
const stage = await openStage({ interval: 12 });
try {
  const { page } = await openPage(stage, { viewport: { width: 860, height: 760 }, deviceScaleFactor: 2, colorScheme });
  await ask(page, { fault: "status=504,reset-after=40,stall-after=30", wait: false });
  // The last loss is the stall: what came before it is on the page, and a seam in the strip.
  await page.waitForSelector("#happenings .seam");
  // The retry after that is not answered, so that the picture shows the wait.
  await page.route("**/v1/seq", () => {});
  await page.waitForSelector('tide-cursor[state="compensating"]', { timeout: 20000 });
  // The breath at its fullest, wherever it is now.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      animation.pause();
      animation.currentTime = 750;
    }
  });
  await page.screenshot({ path: file });
} finally {
  await stage.close();
}
