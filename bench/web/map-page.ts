/**
 * What the measurement of the map reads from an open page: the times between frames while the map is dragged, tasks over
 * 50 ms, the time from a key in the search to its hits, and the memory of the tab.
 */
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

const DRAG_MS = 4000;
/** Names, MAC and IP addresses as they are typed. All have hits in the demo. */
const NAMES = ["lon1-leaf1", "leaf1", "10.", "2001:db8", "srv-1"];
const SEARCH_TEXTS = NAMES.flatMap((name) =>
  Array.from({ length: Math.min(6, name.length) }, (_, i) => name.slice(0, i + 1)),
);
const MAX_SEARCH_MS = 10_000;

/** Records tasks over 50 ms from the beginning of the page. Call before the page is opened. */
export async function recordLongTasks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const longTasks: { readonly start: number; readonly ms: number }[] = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) longTasks.push({ start: entry.startTime, ms: entry.duration });
    }).observe({ type: "longtask", buffered: true });
    Object.assign(globalThis, { longTasks });
  });
}

/** The durations of the tasks over 50 ms that began while `run` was running. */
export async function longTasksDuring(page: Page, run: () => Promise<void>): Promise<number[]> {
  const start = await page.evaluate(() => performance.now());
  await run();
  const tasks = await page.evaluate<{ start: number; ms: number }[]>("longTasks");
  return tasks.filter((task) => task.start >= start).map((task) => task.ms);
}

/** The largest section of the map that is dragged, in map units, so that two layouts are compared at the same zoom. */
const MAX_SPAN = 5000;

/** Zooms in until devices instead of clusters are drawn, and at most `MAX_SPAN` is in view. */
export async function zoomToDevices(page: Page): Promise<void> {
  const map = page.locator(".map-focus");
  await map.focus();
  while ((await page.locator('.map[data-detail="devices"]').count()) === 0) {
    await map.press("+");
    await page.waitForTimeout(400);
  }
  await map.press("+");
  await page.waitForURL(/camera=/);
  await page.evaluate((maxSpan) => {
    const url = new URL(location.href);
    const [x, y, span, device] = url.searchParams.get("camera")?.split(",") ?? [];
    url.searchParams.set("camera", [x, y, Math.min(Number(span), maxSpan), device].join(","));
    history.pushState(null, "", url);
    dispatchEvent(new PopStateEvent("popstate"));
  }, MAX_SPAN);
}

/** The times between frames while the mouse drags the map. */
export async function measureFrames(page: Page): Promise<number[]> {
  const size = page.viewportSize() ?? { width: 1280, height: 800 };
  const [x, y] = [size.width / 2, size.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
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
  const end = performance.now() + DRAG_MS;
  for (let move = 0; performance.now() < end; move++)
    await page.mouse.move(x + Math.sin(move / 8) * 160, y + Math.cos(move / 8) * 120);
  const times = await page.evaluate<number[]>("frameTimes");
  await page.mouse.up();
  return times;
}

/** For each text, the time from its input to the first hits. The box is empty before. */
export async function measureSearch(page: Page): Promise<number[]> {
  await page.keyboard.press("/");
  const times: number[] = [];
  for (const text of SEARCH_TEXTS) {
    await page.evaluate((maxMs) => {
      const measured = new Promise<number>((resolve) => {
        const start = () => {
          const startMs = performance.now();
          const check = () => {
            if (document.querySelector(".search-hit")) resolve(performance.now() - startMs);
            else if (performance.now() - startMs > maxMs) resolve(maxMs);
            else requestAnimationFrame(check);
          };
          requestAnimationFrame(check);
        };
        addEventListener("input", start, { once: true, capture: true });
      });
      Object.assign(globalThis, { measured });
    }, MAX_SEARCH_MS);
    await page.keyboard.insertText(text);
    times.push(await page.evaluate<number>("measured"));
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Backspace");
    await page.locator(".search-hit").first().waitFor({ state: "detached" });
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  return times;
}

/** After a garbage collection, in MB. The tab is the resident memory of the largest renderer process. */
export async function measureMemory(browser: Browser, page: Page): Promise<{ heap: number; tab: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const browserSession = await browser.newBrowserCDPSession();
  const { processInfo } = await browserSession.send("SystemInfo.getProcessInfo");
  const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => residentMb(id));
  return { heap: usedSize / 1e6, tab: Math.max(0, ...renderers) };
}

function residentMb(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kilobytes ?? 0) / 1000;
  } catch {
    return 0; // The process has ended.
  }
}
