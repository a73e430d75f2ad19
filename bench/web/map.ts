/**
 * Measures the map with 50, 1,000 and 10,000 devices in a real browser: the time until the map is drawn, the time between
 * frames while the map is zoomed and dragged, the script time in it, and the size of the page. WebGL runs in software
 * here, so the time for drawing is an upper bound: a GPU needs a fraction of it.
 */
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../test/web/chromium.ts";
import { type DemoService, startDemoService } from "../../test/web/demo-service.ts";
import type { Result } from "../api/result.ts";

const SIZES = [
  { devices: 50, hosts: 300 },
  { devices: 1000, hosts: 8000 },
  { devices: 10_000, hosts: 100_000 },
] as const;
const VIEWPORT = { width: 1600, height: 1000 } as const;
const MOVES = 20;

export async function measureMap({ rounds }: { readonly rounds: number }): Promise<Result[]> {
  const browser = await launchChromium();
  const results: Result[] = [];
  try {
    for (const { devices, hosts } of SIZES) {
      const service = await startDemoService(`devices=${devices},hosts=${hosts},churn=1`);
      try {
        results.push(...(await measureSize(browser, service, devices, rounds)));
        if (devices === SIZES[0].devices) results.push(await measurePageSize(service));
      } finally {
        await service.stop();
      }
    }
  } finally {
    await browser.close();
  }
  return results;
}

async function measureSize(
  browser: Browser,
  service: DemoService,
  devices: number,
  rounds: number,
): Promise<Result[]> {
  const firstDrawMs: number[] = [];
  const frameMs: number[] = [];
  const scriptMsPerFrame: number[] = [];
  // The first round is not counted: it starts the browser's graphics and bundles the page.
  for (let round = 0; round <= rounds; round++) {
    const context = await browser.newContext({ httpCredentials: service.user, viewport: VIEWPORT });
    const page = await context.newPage();
    await page.goto(service.url);
    await page.locator('[data-drawn="true"]').waitFor({ timeout: 120_000 });
    await page.locator('.status[data-level="live"]').waitFor({ timeout: 120_000 });
    if (round > 0) {
      firstDrawMs.push(
        await page.evaluate(() => performance.getEntriesByName("map-drawn")[0]?.startTime ?? 0),
      );
      const readScriptMs = await openScriptClock(page);
      const before = await readScriptMs();
      const times = await measureFrames(page);
      scriptMsPerFrame.push(((await readScriptMs()) - before) / times.length);
      frameMs.push(...times);
    }
    await context.close();
  }
  const name = `map ${devices.toLocaleString("en")}`;
  return [
    { name, what: "time to first map", unit: "ms", ours: quantile(firstDrawMs, 0.5) },
    { name, what: "frame while moving, median", unit: "ms", ours: quantile(frameMs, 0.5) },
    { name, what: "frame while moving, 95th percentile", unit: "ms", ours: quantile(frameMs, 0.95) },
    { name, what: "script in a frame", unit: "ms", ours: quantile(scriptMsPerFrame, 0.5) },
  ];
}

/** Returns a function that reads how long the main thread of the page has run scripts. */
async function openScriptClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "ScriptDuration")?.value ?? 0) * 1000;
  };
}

/** The times between frames while the mouse zooms in and out and drags. */
async function measureFrames(page: Page): Promise<number[]> {
  await page.evaluate(() => {
    const times: number[] = [];
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    Object.assign(globalThis, { frameTimes: times });
  });
  const [x, y] = [VIEWPORT.width / 2, VIEWPORT.height / 2];
  await page.mouse.move(x, y);
  for (let move = 0; move < MOVES; move++) await page.mouse.wheel(0, move < MOVES / 2 ? -120 : 120);
  await page.mouse.down();
  for (let move = 0; move < MOVES; move++) await page.mouse.move(x + (move % 20) * 12, y + (move % 10) * 8);
  await page.mouse.up();
  return page.evaluate<number[]>("frameTimes");
}

async function measurePageSize({ url, user }: DemoService): Promise<Result> {
  const authorization = `Basic ${btoa(`${user.username}:${user.password}`)}`;
  const get = (path: string) =>
    fetch(url + path, { headers: { authorization, "accept-encoding": "br" }, method: "HEAD" });
  const html = await (await fetch(`${url}/`, { headers: { authorization } })).text();
  const assets = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
  let bytes = 0;
  for (const path of ["/", ...assets]) bytes += Number((await get(path)).headers.get("content-length"));
  return { name: "map page", what: "weight, compressed", unit: "kB", ours: bytes / 1000, max: 500 };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((p, q) => p - q);
  return Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
}

if (import.meta.main) console.log(JSON.stringify(await measureMap({ rounds: 3 }), null, 2));
