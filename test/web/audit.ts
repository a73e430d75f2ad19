/** Audits a page with axe-core. Returns the violations of all its rules. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { BrowserTab } from "./browser.ts";

const AXE = readFileSync(join(import.meta.dir, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** Of all other results, only what a violation needs is worked out. */
const OPTIONS = JSON.stringify({ resultTypes: ["violations"], selectors: false });

export async function audit({ page }: BrowserTab): Promise<string[]> {
  // Evaluated, because the content security policy of the page forbids an added script element.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const results = await page.evaluate<AxeResults>(`axe.run(${OPTIONS})`);
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
}
