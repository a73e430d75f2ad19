/** The same page at 50, 1,000 and 10,000 devices, tables of 100,000 rows, and the weight of the page itself. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { eventually, inkOfMap, visit } from "./browser.ts";

const here = needs("chromium");

const demo = (devices: number, hosts: number): Promise<Service> =>
  startService({ args: ["--data", ":memory:", `--demo=devices=${devices},hosts=${hosts},churn=0`] });

for (const [devices, hosts, detail] of [
  [50, 300, "devices"],
  [1000, 5000, "devices"],
  [10_000, 100_000, "blocks"],
] as const) {
  test.skipIf(!here)(
    `${devices.toLocaleString("en")} devices are a picture, and can be searched`,
    async () => {
      const service = await demo(devices, hosts);
      const person = await visit(service);
      const { page } = person;
      await person.goto("/");
      await page.locator(`.map[data-detail="${detail}"]`).waitFor();
      await eventually("the network to be drawn", async () => {
        const ink = await inkOfMap(person);
        expect(ink.share).toBeGreaterThan(0.005);
        expect(ink.fields).toBeGreaterThan(14);
      });
      const all = `${devices.toLocaleString("en")} devices`;
      await page.locator(".map-summary", { hasText: all }).waitFor();
      await page.locator(".map-summary", { hasText: `${hosts.toLocaleString("en")} hosts` }).waitFor();
      // Going to one device comes close enough to tell devices apart, whatever the size of the network.
      await page.keyboard.press("/");
      await page.keyboard.type("lon1-leaf1");
      await page.locator(".search-hit").first().waitFor();
      await page.keyboard.press("Enter");
      await page.locator("aside.panel").getByRole("heading", { name: "lon1-leaf1" }).waitFor();
      await page.locator('.map[data-detail="devices"]').waitFor();
      if (hosts === 100_000) await scrollAll(service);
      expect(person.outside).toEqual([]);
      expect(person.troubles).toEqual([]);
      await person.close();
      await service.stop();
    },
  );
}

/** To the last of a hundred thousand rows, with no more elements on the way than fit on a screen. */
async function scrollAll(service: Service): Promise<void> {
  const person = await visit(service);
  const { page } = person;
  await person.goto("/?view=hosts");
  await page.getByText("100,000 rows", { exact: true }).waitFor();
  const rows = page.locator('.grid [role="row"][aria-selected]');
  await rows.first().focus();
  await page.keyboard.press("End");
  await page.locator('[aria-rowindex="100001"]').waitFor();
  expect(await rows.count()).toBeLessThan(60);
  await page.getByRole("button", { name: "MAC" }).click();
  await until(() => page.url().includes("sort=mac"), { what: "the order in the address" });
  await person.close();
}

test.skipIf(!here)(
  "the page is under 500 kB compressed, and everything on it comes from the service",
  async () => {
    const service = await demo(10, 10);
    const html = await (await service.fetch("/")).text();
    const assets = [...html.matchAll(/(?:href|src|content)="(\/assets\/[^"]+)"/g)].map(
      (match) => match[1] ?? "",
    );
    expect(assets).toHaveLength(4);
    for (const coding of ["gzip", "br", "zstd"]) {
      let total = 0;
      for (const path of ["/", ...assets]) {
        const answer = await service.fetch(path, { method: "HEAD", headers: { "accept-encoding": coding } });
        expect(answer.status).toBe(200);
        total += Number(answer.headers.get("content-length"));
      }
      expect(total).toBeGreaterThan(10_000);
      expect(total).toBeLessThan(500_000);
    }
    await service.stop();
  },
);

test.skipIf(!here)(
  "the page is served with a strict policy, revalidated, and to nobody without credentials",
  async () => {
    const service = await demo(10, 10);
    const answer = await service.fetch("/", { headers: { "accept-encoding": "gzip" } });
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const etag = answer.headers.get("etag") ?? "";
    const again = await service.fetch("/", { headers: { "accept-encoding": "gzip", "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect((await fetch(`${service.url}/`)).status).toBe(401);
    expect((await service.fetch("/assets/none.js")).status).toBe(404);
    await service.stop();
  },
);
