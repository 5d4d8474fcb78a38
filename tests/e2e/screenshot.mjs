// Takes the README's pictures, in light and dark: the chat page with an answer under way, the same while a lost leg is
// being recovered, and the cursor.   node tests/e2e/screenshot.mjs [DIRECTORY]
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { palettePng } from "./palette_png.mjs";
import { ask, openPage, openStage } from "./stage.mjs";

const file = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const directory = process.argv[2] ?? file("../../docs/images");
mkdirSync(directory, { recursive: true });

/** Every animation where it is seen best, wherever it is now. */
const still = (page) =>
  page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (!(animation instanceof CSSAnimation)) {
        animation.finish();
        continue;
      }
      animation.pause();
      animation.currentTime = animation.animationName === "tide-cursor-blink" ? 0 : 750;
    }
  });

async function picture(page, name) {
  await still(page);
  const png = (await page.screenshot({ animations: "allow" })).toString("base64");
  const { width, height, pixels } = await page.evaluate(async (png) => {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const { data } = canvas.getImageData(0, 0, image.width, image.height);
    let pixels = "";
    for (let at = 0; at < data.length; at += 32768) pixels += String.fromCharCode(...data.subarray(at, at + 32768));
    return { width: image.width, height: image.height, pixels: btoa(pixels) };
  }, png);
  const small = palettePng(Buffer.from(pixels, "base64"), width, height);
  writeFileSync(`${directory}/${name}.png`, small);
  console.log(`${name}.png ${small.length} bytes`);
}

const cursors = `<!doctype html><meta name="color-scheme" content="light dark"><style>
  body { margin: 20px 28px; font: 17px/1.5 system-ui, sans-serif; background: light-dark(#fffdf9, #172227); color: light-dark(#1d2a30, #e4ebec) }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 8px 28px; margin: 0 }
  dt { color: light-dark(#5a686f, #8fa0a6); font-size: 15px } dd { margin: 0 }
</style><style>${readFileSync(file("../../web/dist/cursor.css"), "utf8")}</style><dl>
  <dt>streaming</dt><dd>The Moon pulls on the near side<tide-cursor state="streaming"></tide-cursor></dd>
  <dt>compensating</dt><dd>The Moon pulls on the near<tide-cursor state="compensating"></tide-cursor></dd>
  <dt>from right to left</dt><dd dir="rtl">הירח מושך את המים<tide-cursor state="merging"></tide-cursor></dd>
  <dt>finalized</dt><dd>The Moon pulls on the near side of the Earth.<tide-cursor state="finalized"></tide-cursor></dd>
</dl>`;

const stage = await openStage({ interval: 12 });
try {
  for (const colorScheme of ["light", "dark"]) {
    const options = { viewport: { width: 800, height: 690 }, deviceScaleFactor: 1.5, colorScheme };
    const streaming = await openPage(stage, options);
    // The line goes dead there, but nobody can know so soon.
    await ask(streaming.page, { fault: "stall-after=40", wait: false });
    await streaming.page.waitForFunction(() => document.querySelector(".answer p").textContent.length > 150);
    await picture(streaming.page, `page-${colorScheme}`);
    await streaming.close();

    const { page, close } = await openPage(stage, options);
    await ask(page, { fault: "status=504,reset-after=40,stall-after=30", wait: false });
    // The last loss is the stall: what came before it is on the page, and a seam in the strip.
    await page.waitForSelector("#happenings .seam");
    // The retry after that is not answered, so that the picture shows the wait.
    await page.route("**/v1/seq", () => {});
    await page.waitForSelector('tide-cursor[state="compensating"]', { timeout: 20000 });
    await picture(page, `page-recovering-${colorScheme}`);
    await close();

    const plain = await stage.browser.newPage({ ...options, viewport: { width: 620, height: 176 } });
    await plain.setContent(cursors);
    await picture(plain, `cursor-${colorScheme}`);
    await plain.close();
  }
} finally {
  await stage.close();
}
