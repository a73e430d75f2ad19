/** Files that the menu of exports downloads. */
import { readFileSync } from "node:fs";
import type { BrowserTab } from "./browser.ts";

/** The content of the file of an item such as `Download PNG`. */
export async function download({ page }: BrowserTab, item: string): Promise<Buffer> {
  await page.getByRole("button", { name: "Export and share" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: item }).click(),
  ]);
  return readFileSync(await file.path());
}
