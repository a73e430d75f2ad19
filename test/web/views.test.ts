/** Tables, keys, small screens, dark and light, what can be taken away, and what axe-core has to say of each view. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { addressContains, eventually, type Visit, visit } from "./browser.ts";

const here = needs("chromium");
const AXE = readFileSync(join(import.meta.dir, "../../node_modules/axe-core/axe.min.js"), "utf8");
let service: Service;
let person: Visit;

beforeAll(async () => {
  if (!here) return;
  service = await startService({ args: ["--data", ":memory:", "--demo=devices=50,hosts=300,churn=0"] });
  person = await visit(service);
});
afterAll(() => person?.close());

const rows = () => person.page.locator('.grid [role="row"][aria-selected]');
const cell = (row: number, column: number) => rows().nth(row).getByRole("gridcell").nth(column);

test.skipIf(!here)(
  "a table filters with the interface's own grammar, and shows its refusals as they are",
  async () => {
    await person.goto("/?view=devices");
    await person.page.getByText("50 rows").waitFor();
    const filter = person.page.getByRole("searchbox", { name: "Filter" });
    await filter.fill("type=ROUTER");
    await filter.press("Enter");
    await person.page.getByText("8 rows").waitFor();
    await addressContains(person, "filter=type%3DROUTER");
    await filter.fill("typ=ROUTER");
    await filter.press("Enter");
    const refusal = person.page.locator(".fault");
    await refusal.waitFor();
    const { detail } = await (await service.fetch("/controller/v1/devices?typ=ROUTER&limit=200")).json();
    expect(await refusal.textContent()).toBe(detail);
    await filter.fill("core lon1");
    await filter.press("Enter");
    await person.page.getByText("No rows match.").waitFor();
  },
);

test.skipIf(!here)("a click on a heading sorts, and the address keeps it", async () => {
  await person.goto("/?view=devices");
  await person.page.getByRole("button", { name: "Id" }).click();
  await until(() => person.page.url().includes("sort=id"), { what: "the order in the address" });
  const [first, last] = [await firstDevice("id"), await firstDevice("-id")];
  expect(first).not.toBe(last);
  await cell(0, 1).getByText(first, { exact: true }).waitFor();
  await person.page.getByRole("button", { name: "Id" }).click();
  await cell(0, 1).getByText(last, { exact: true }).waitFor();
  await addressContains(person, "sort=-id");
  await person.goto(new URL(person.page.url()).pathname + new URL(person.page.url()).search);
  await cell(0, 1).getByText(last, { exact: true }).waitFor();
});

async function firstDevice(sort: string): Promise<string> {
  const { devices } = await (await service.fetch(`/controller/v1/devices?sort=${sort}&limit=1`)).json();
  return devices[0].id;
}

test.skipIf(!here)("rows are walked and opened by keyboard", async () => {
  await person.goto("/?view=hosts");
  await rows().first().focus();
  await person.page.keyboard.press("End");
  await person.page.keyboard.press("Enter");
  await person.page.locator("aside.panel").getByText("MAC", { exact: true }).waitFor();
  await addressContains(person, "selected=hosts:");
});

test.skipIf(!here)("views are taken away as curl, CSV, PNG and SVG", async () => {
  const menu = () => person.page.getByRole("button", { name: "Export and share" }).click();
  await person.goto("/?view=hosts&filter=ip=10.0.0.0/8");
  await menu();
  await person.page.getByRole("button", { name: "Copy as curl" }).click();
  const clipboard = () => person.page.evaluate(() => navigator.clipboard.readText());
  await eventually("the request in the clipboard", async () =>
    expect(await clipboard()).toBe(`curl --user USERNAME '${service.url}/controller/v1/hosts?ip=10.0.0.0/8'`),
  );
  const take = async (name: string) => {
    await menu();
    const [file] = await Promise.all([
      person.page.waitForEvent("download"),
      person.page.getByRole("button", { name }).click(),
    ]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const csv = await take("Download CSV");
  expect(csv.name).toEndWith(".csv");
  expect(csv.bytes.toString()).toContain("mac");
  await person.goto("/");
  expect((await take("Download PNG")).bytes.subarray(1, 4).toString()).toBe("PNG");
  expect((await take("Download SVG")).bytes.toString()).toContain("<svg");
  await menu();
  await person.page.getByRole("button", { name: "Copy as curl" }).click();
  await eventually("the other request in the clipboard", async () =>
    expect(await clipboard()).toContain("/controller/v1/topology"),
  );
});

test.skipIf(!here)("the map is moved by keys, and back goes back", async () => {
  await person.goto("/");
  const map = person.page.locator(".map-focus");
  await map.focus();
  await map.press("+");
  await map.press("ArrowRight");
  await until(() => person.page.url().includes("camera="), { what: "the camera in the address" });
  await person.page.getByRole("link", { name: "Links" }).click();
  await rows().first().waitFor();
  await person.page.goBack();
  await map.waitFor();
  await addressContains(person, "camera=");
});

const VIEWS = [
  ["the map", "/"],
  ["a device", "/?selected=devices:of:0000000000000005"],
  ["changes and a filter", "/?changes=1&state=inactive"],
  ["devices", "/?view=devices"],
  ["links", "/?view=links&selected=hosts:x"],
  ["hosts, refused", "/?view=hosts&filter=vlon=1"],
] as const;

test.skipIf(!here)("axe-core finds no serious fault on any view, dark or light, wide or narrow", async () => {
  const faults: string[] = [];
  for (const colorScheme of ["dark", "light"] as const) {
    const viewport = colorScheme === "dark" ? { width: 1280, height: 800 } : { width: 400, height: 800 };
    const guest = await visit(service, { colorScheme, viewport });
    for (const [name, path] of VIEWS) {
      await guest.goto(path);
      const loading = guest.page.locator(".panel .muted", { hasText: "Loading" });
      await until(async () => (await loading.count()) === 0, { what: "the panel to be complete" });
      for (const fault of await audit(guest)) faults.push(`${name}, ${colorScheme}: ${fault}`);
    }
    for (const button of ["Filter", "Legend", "Export and share"]) {
      await guest.goto("/");
      await guest.page.getByRole("button", { name: button }).click();
      for (const fault of await audit(guest)) faults.push(`${button} open, ${colorScheme}: ${fault}`);
    }
    expect(guest.troubles).toEqual([]);
    await guest.close();
  }
  expect(faults).toEqual([]);
});

async function audit({ page }: Visit): Promise<string[]> {
  // Not as a script element, which the policy of the page would refuse.
  await page.evaluate(AXE);
  const results = await page.evaluate<AxeResults>("axe.run()");
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
}

test.skipIf(!here)("a small screen has everything in reach", async () => {
  const guest = await visit(service, { viewport: { width: 390, height: 780 }, hasTouch: true });
  await guest.goto("/?selected=devices:of:0000000000000005");
  for (const part of [".search-input", ".tabs", ".map", "aside.panel", ".timeline"]) {
    const box = await guest.page.locator(part).first().boundingBox();
    expect(box?.width ?? 0).toBeGreaterThan(80);
    expect((box?.x ?? -1) + (box?.width ?? 0)).toBeLessThanOrEqual(391);
    expect((box?.y ?? -1) + (box?.height ?? 0)).toBeLessThanOrEqual(781);
  }
  await guest.close();
});

test.skipIf(!here)("without a source it says how to connect one", async () => {
  const empty = await startService();
  const guest = await visit(empty);
  await guest.goto("/");
  await guest.page.getByRole("heading", { name: "No devices yet" }).waitFor();
  await guest.page.getByText("type: openflow").waitFor();
  expect(await audit(guest)).toEqual([]);
  await guest.close();
  await empty.stop();
});
