/** The page with the largest network that it is made for. */
import { expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { eventually } from "../../web/browser.ts";
import { overlaps, readTexts, recordCards, straying, takeFrames } from "../../web/drawn-cards.ts";
import { drawAndSearch } from "../../web/network-of-size.ts";

const SITES_OF_DEMO = 249;

test.skipIf(!needs("chromium"))("10,000 devices with 100,000 hosts are drawn and can be searched", () =>
  drawAndSearch(10_000, 100_000, "clusters", {
    beforeOpening: recordCards,
    async onDrawn(tab) {
      // No two cards overlap, each has a name, and no name lies on another card.
      await eventually("the cards of all sites", async () => {
        const cards = (await takeFrames(tab)).at(-1) ?? [];
        if (cards.length === 0) await tab.page.setViewportSize({ width: 1281, height: 800 });
        expect(cards).toHaveLength(SITES_OF_DEMO);
        expect(overlaps(cards)).toEqual([]);
        const texts = await readTexts(tab);
        expect(texts).toHaveLength(SITES_OF_DEMO);
        expect(straying(texts, cards)).toEqual([]);
      });
    },
  }),
);
