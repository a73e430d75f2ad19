/** The numbers that the map has in its attributes: encoded items, updates and frames since the start, and present items. */
import type { BrowserTab } from "./browser.ts";

export async function counters({ page }: BrowserTab) {
  const data = await page.locator(".map").evaluate((map) => ({ ...(map as HTMLElement).dataset }));
  return {
    encoded: Number(data.encoded),
    updates: Number(data.updates),
    items: Number(data.items),
    frames: Number(data.frames),
  };
}
