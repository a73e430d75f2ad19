/** The page with 50 devices, and the size and headers of the page itself. Larger networks are in `test/peers/web`. */
import { expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { drawAndSearch, startDemo } from "./network-of-size.ts";

const hasChromium = needs("chromium");

test.skipIf(!hasChromium)("50 devices with 300 hosts are drawn and can be searched", () =>
  drawAndSearch(50, 300, "devices"),
);

test("the page is small, its assets come from the service, and it has a strict policy", async () => {
  const service = await startDemo(10, 10);
  const html = await (await service.fetch("/")).text();
  const assets = [...html.matchAll(/(?:href|src|content)="(\/assets\/[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  expect(assets).toHaveLength(4);
  for (const encoding of ["gzip", "br", "zstd"]) {
    let total = 0;
    for (const path of ["/", ...assets]) {
      const response = await service.fetch(path, {
        method: "HEAD",
        headers: { "accept-encoding": encoding },
      });
      expect(response.status).toBe(200);
      total += Number(response.headers.get("content-length"));
    }
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(500_000);
  }
  const response = await service.fetch("/", { headers: { "accept-encoding": "gzip" } });
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(response.headers.get("cache-control")).toBe("private, no-cache");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const etag = response.headers.get("etag") ?? "";
  const revalidated = await service.fetch("/", {
    headers: { "accept-encoding": "gzip", "if-none-match": etag },
  });
  expect(revalidated.status).toBe(304);
  expect((await fetch(`${service.url}/`)).status).toBe(401);
  expect((await service.fetch("/assets/none.js")).status).toBe(404);
  await service.stop();
});
