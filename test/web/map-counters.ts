/** The numbers that the map has in its attributes: encoded items and updates since the start, and present items. */
import type { BrowserTab } from "./browser.ts";

export async function counters({
  page,
}: BrowserTab): Promise<{ encoded: number; updates: number; items: number }> {
  const data = await page.locator(".map").evaluate((map) => ({ ...(map as HTMLElement).dataset }));
  return { encoded: Number(data.encoded), updates: Number(data.updates), items: Number(data.items) };
}
