/**
 * Makes docs/images/map.png: the page on the simulated network, as after a minute of `npm start`, with a device
 * selected. `bun scripts/screenshot.ts [FILE]`. Needs chromium.
 */
import { join, resolve } from "node:path";
import { launchChromium } from "../test/web/chromium.ts";
import { startDemoService } from "../test/web/demo-service.ts";

const target = resolve(process.argv[2] ?? join(import.meta.dir, "../docs/images/map.png"));
/** Long enough for changes to appear on the timeline. */
const DEMO_RUNTIME_MS = 60_000;

const service = await startDemoService("devices=50,hosts=300,churn=0.6");
const browser = await launchChromium();
try {
  const context = await browser.newContext({
    httpCredentials: service.user,
    viewport: { width: 1600, height: 1000 },
    colorScheme: "dark",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(service.url);
  await page.locator('[data-drawn="true"]').waitFor();
  await Bun.sleep(DEMO_RUNTIME_MS);
  await page.goto(`${service.url}/?selected=devices:of:0000000000000005&span=15min`);
  await page.locator('.status[data-level="live"]').waitFor();
  await page.locator(".panel table.ports").first().waitFor();
  await page.locator(".bars rect").first().waitFor();
  await page.screenshot({ path: target });
  console.log(`${target} ${Bun.file(target).size} bytes`);
} finally {
  await browser.close();
  await service.stop();
}
