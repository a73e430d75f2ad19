/**
 * Measures the map with 50, 1,000 and 10,000 devices, and with 1,000,000 hosts, in a real browser while the network
 * changes: the time until the map is drawn, the time between frames while it is dragged at a zoom at which devices are
 * drawn, tasks over 50 ms, the search, and memory; and the quality of the layout. WebGL runs in software here, so the time for drawing is an upper bound: a GPU needs a fraction of it.
 */
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../test/web/chromium.ts";
import { type DemoService, startDemoService } from "../../test/web/demo-service.ts";
import type { Result } from "../api/result.ts";
import { measureDemoLayout } from "./layout-quality.ts";
import {
  longTasksDuring,
  measureFrames,
  measureMemory,
  measureSearch,
  recordLongTasks,
  zoomToDevices,
} from "./map-page.ts";

const SIZES = [
  { devices: 50, hosts: 300 },
  { devices: 1000, hosts: 8000 },
  { devices: 10_000, hosts: 100_000 },
  { devices: 10_000, hosts: 1_000_000 },
] as const;
type Size = (typeof SIZES)[number];
const CHURN = 2;
const VIEWPORT = { width: 1280, height: 800 } as const;
/** How long live changes are drawn for the count of long tasks. */
const LIVE_MS = 5000;
/** A demo of 1,000,000 hosts takes minutes to load. */
const LOAD_TIMEOUT_MS = 20 * 60_000;
const OPEN_TIMEOUT_MS = 60_000;

interface MapOptions {
  readonly rounds: number;
  /** Only the first network with this many devices or hosts. */
  readonly only?: number;
  /** Measured instead of services of its own. */
  readonly service?: DemoService;
}

export async function measureMap({ rounds, only, service }: MapOptions): Promise<Result[]> {
  const browser = await launchChromium();
  const results: Result[] = [];
  try {
    const first = SIZES.find(({ devices }) => devices === only) ?? SIZES.find(({ hosts }) => hosts === only);
    for (const size of only === undefined ? SIZES : [first ?? SIZES[0]]) {
      const { devices, hosts } = size;
      const measured =
        service ?? (await startDemoService(`devices=${devices},hosts=${hosts},churn=${CHURN}`));
      try {
        await waitUntilLoaded(measured);
        results.push(...(await measureSize(browser, measured, size, rounds)));
        if (size === SIZES[0]) results.push(await measurePageSize(measured));
      } finally {
        await measured.stop();
      }
    }
  } finally {
    await browser.close();
  }
  return results;
}

/** A page that is opened earlier shows the source as stale, and receives the rest of the network as changes. */
async function waitUntilLoaded({ url }: DemoService): Promise<void> {
  const end = performance.now() + LOAD_TIMEOUT_MS;
  while ((await fetch(`${url}/readyz`)).status !== 200) {
    if (performance.now() > end) throw new Error("the network is not loaded");
    await Bun.sleep(500);
  }
}

interface Round {
  readonly firstDrawMs: number;
  readonly frameMs: readonly number[];
  readonly liveTaskMs: readonly number[];
  readonly dragTaskMs: readonly number[];
  readonly searchTaskMs: readonly number[];
  readonly searchMs: readonly number[];
  readonly heapMb: number;
  readonly tabMb: number;
}

async function measureSize(
  browser: Browser,
  service: DemoService,
  { devices, hosts }: Size,
  count: number,
): Promise<Result[]> {
  const rounds: Round[] = [];
  // The first round is not counted: it starts the browser's graphics and bundles the page.
  for (let i = 0; i <= count; i++) {
    const context = await browser.newContext({ httpCredentials: service.user, viewport: VIEWPORT });
    const page = await context.newPage();
    await recordLongTasks(page);
    await page.goto(service.url);
    await page.locator('[data-drawn="true"]').waitFor({ timeout: OPEN_TIMEOUT_MS });
    await page.locator('.status[data-level="live"]').waitFor({ timeout: OPEN_TIMEOUT_MS });
    if (i > 0) rounds.push(await measureRound(browser, page));
    await context.close();
  }
  const name = `map ${devices.toLocaleString("en")}, ${hosts.toLocaleString("en")} hosts`;
  type Lists = "frameMs" | "liveTaskMs" | "dragTaskMs" | "searchTaskMs" | "searchMs";
  const all = (key: Lists, share: number) =>
    quantile(
      rounds.flatMap((round) => round[key]),
      share,
    );
  const median = (key: "firstDrawMs" | "heapMb" | "tabMb") =>
    quantile(
      rounds.map((round) => round[key]),
      0.5,
    );
  const longTasks = (key: Lists, what: string): Result[] => [
    {
      name,
      what: `tasks over 50 ms, ${what}`,
      unit: "",
      ours: rounds.flatMap((round) => round[key]).length,
      max: 0,
    },
    { name, what: `longest of them, ${what}`, unit: "ms", ours: all(key, 1) },
  ];
  return [
    { name, what: "time to first map", unit: "ms", ours: median("firstDrawMs"), max: 5000 },
    ...longTasks("liveTaskMs", "live"),
    { name, what: "frame while dragging, median", unit: "ms", ours: all("frameMs", 0.5), max: 50 },
    { name, what: "frame while dragging, 95th percentile", unit: "ms", ours: all("frameMs", 0.95) },
    ...longTasks("dragTaskMs", "dragging"),
    { name, what: "text to search hits, median", unit: "ms", ours: all("searchMs", 0.5) },
    { name, what: "text to search hits, 95th percentile", unit: "ms", ours: all("searchMs", 0.95), max: 150 },
    ...longTasks("searchTaskMs", "searching"),
    { name, what: "JS heap", unit: "MB", ours: median("heapMb") },
    { name, what: "memory of the tab", unit: "MB", ours: median("tabMb"), max: 500 },
    ...measureDemoLayout(name, devices),
  ];
}

async function measureRound(browser: Browser, page: Page): Promise<Round> {
  const firstDrawMs = await page.evaluate(() => performance.getEntriesByName("map-drawn")[0]?.startTime ?? 0);
  await zoomToDevices(page);
  await page.waitForTimeout(1000);
  const liveTaskMs = await longTasksDuring(page, () => page.waitForTimeout(LIVE_MS));
  let frameMs: readonly number[] = [];
  let searchMs: readonly number[] = [];
  const dragTaskMs = await longTasksDuring(page, async () => {
    frameMs = await measureFrames(page);
  });
  const searchTaskMs = await longTasksDuring(page, async () => {
    searchMs = await measureSearch(page);
  });
  const { heap, tab } = await measureMemory(browser, page);
  const lists = { frameMs, searchMs, liveTaskMs, dragTaskMs, searchTaskMs };
  return { firstDrawMs, ...lists, heapMb: heap, tabMb: tab };
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

const runningService = ({ origin, username, password }: URL): DemoService => ({
  url: origin,
  user: { username, password },
  stop: async () => {},
});

/** `bun bench/web/map.ts [DEVICES [URL]]`, where the URL, with user and password, is of a service that runs already. */
if (import.meta.main) {
  const [devices, address] = process.argv.slice(2);
  const results = await measureMap({
    rounds: 1,
    ...(devices !== undefined && { only: Number(devices) }),
    ...(address !== undefined && { service: runningService(new URL(address)) }),
  });
  for (const { name, what, ours, unit } of results) console.log(`${name}: ${what}: ${ours} ${unit}`);
}
