/**
 * The map at 50, 1,000 and 10,000 devices, in a real browser: how long until the first map, how long a frame takes
 * while a hand moves it, how much of that is the page's own work, and what the page weighs. WebGL runs in software
 * here, so the rest of a frame is an upper bound: a graphics card takes a fraction of it.
 */
import type { Browser, Page } from "playwright-core";
import { openChromium } from "../../test/web/chromium.ts";
import { type DemoService, startDemo } from "../../test/web/demo-service.ts";
import type { Result } from "../api/result.ts";

const SIZES = [
  { devices: 50, hosts: 300 },
  { devices: 1000, hosts: 8000 },
  { devices: 10_000, hosts: 100_000 },
] as const;
const VIEWPORT = { width: 1600, height: 1000 } as const;
const MOVES = 20;

export async function measureMap({ rounds }: { readonly rounds: number }): Promise<Result[]> {
  const browser = await openChromium();
  const results: Result[] = [];
  try {
    for (const { devices, hosts } of SIZES) {
      const service = await startDemo(`devices=${devices},hosts=${hosts},churn=1`);
      try {
        results.push(...(await measureSize(browser, service, devices, rounds)));
        if (devices === SIZES[0].devices) results.push(await measureWeight(service));
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
  const firsts: number[] = [];
  const frames: number[] = [];
  const scripts: number[] = [];
  // One visit more than is counted: the first one starts the browser's graphics and bundles the page.
  for (let round = 0; round <= rounds; round++) {
    const context = await browser.newContext({ httpCredentials: service.user, viewport: VIEWPORT });
    const page = await context.newPage();
    await page.goto(service.url);
    await page.locator('[data-drawn="true"]').waitFor({ timeout: 120_000 });
    await page.locator('.status[data-level="live"]').waitFor({ timeout: 120_000 });
    if (round > 0) {
      firsts.push(await page.evaluate(() => performance.getEntriesByName("map-drawn")[0]?.startTime ?? 0));
      const scriptMs = await scriptClock(page);
      const before = await scriptMs();
      const times = await frameTimes(page);
      scripts.push(((await scriptMs()) - before) / times.length);
      frames.push(...times);
    }
    await context.close();
  }
  const name = `map ${devices.toLocaleString("en")}`;
  return [
    { name, what: "time to first map", unit: "ms", ours: at(firsts, 0.5) },
    { name, what: "frame while moving, median", unit: "ms", ours: at(frames, 0.5) },
    { name, what: "frame while moving, 95th percentile", unit: "ms", ours: at(frames, 0.95) },
    { name, what: "script in a frame", unit: "ms", ours: at(scripts, 0.5) },
  ];
}

/** How long the page's own thread has run scripts since it was first asked. */
async function scriptClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "ScriptDuration")?.value ?? 0) * 1000;
  };
}

/** The time between frames while a hand zooms in and out and drags. */
async function frameTimes(page: Page): Promise<number[]> {
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

async function measureWeight({ url, user }: DemoService): Promise<Result> {
  const authorization = `Basic ${btoa(`${user.username}:${user.password}`)}`;
  const get = (path: string) =>
    fetch(url + path, { headers: { authorization, "accept-encoding": "br" }, method: "HEAD" });
  const html = await (await fetch(`${url}/`, { headers: { authorization } })).text();
  const assets = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
  let bytes = 0;
  for (const path of ["/", ...assets]) bytes += Number((await get(path)).headers.get("content-length"));
  return { name: "map page", what: "weight, compressed", unit: "kB", ours: bytes / 1000, most: 500 };
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((p, q) => p - q);
  return Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
}

if (import.meta.main) console.log(JSON.stringify(await measureMap({ rounds: 3 }), null, 2));
