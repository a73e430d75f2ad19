/** The page with the largest network that it is made for. */
import { test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { drawAndSearch } from "../../web/network-of-size.ts";

test.skipIf(!needs("chromium"))("10,000 devices with 100,000 hosts are drawn and can be searched", () =>
  drawAndSearch(10_000, 100_000, "clusters"),
);
