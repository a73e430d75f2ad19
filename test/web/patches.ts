/** Small rectangles of the map as numbers, without its texts and backgrounds: what the graph itself looks like at a place. */
import type { BrowserTab } from "./browser.ts";
import { inBlankPage, screenshotMap, toDataUrl } from "./map-pixels.ts";

/** In pixels of the map element. */
export interface PatchBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type Rgb = readonly [number, number, number];

export class Patch {
  readonly width: number;
  readonly height: number;
  readonly #bytes: Uint8Array;

  constructor({ width, height }: PatchBox, bytes: Uint8Array) {
    [this.width, this.height, this.#bytes] = [width, height, bytes];
  }

  at(x: number, y: number): Rgb {
    const start = 4 * (y * this.width + x);
    const [r = 0, g = 0, b = 0] = this.#bytes.subarray(start, start + 3);
    return [r, g, b];
  }

  column(x: number): Rgb[] {
    return Array.from({ length: this.height }, (_, y) => this.at(x, y));
  }

  columns(): Rgb[][] {
    return Array.from({ length: this.width }, (_, x) => this.column(x));
  }

  /** The mean difference of a pixel to that of a patch of the same size, from 0 to 765. */
  differenceTo(other: Patch): number {
    const [mine, theirs] = [this.columns().flat(), other.columns().flat()];
    const sum = mine.reduce((total, colour, i) => total + difference(colour, theirs[i] ?? [0, 0, 0]), 0);
    return sum / mine.length;
  }
}

/** Of two colours, from 0 to 765. */
export const difference = (p: Rgb, q: Rgb): number =>
  Math.abs(p[0] - q[0]) + Math.abs(p[1] - q[1]) + Math.abs(p[2] - q[2]);

/** `#8fb4da` as numbers. */
export const parseColour = (colour: string): Rgb => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
  return [r, g, b];
};

/** Names, numbers and the backgrounds of groups would cover the shapes that a test looks at. */
export async function showGraphOnly({ page }: BrowserTab): Promise<void> {
  await page.locator(".map-layer:not(.map-stage)").evaluateAll((layers) => {
    for (const layer of layers) if (layer instanceof HTMLElement) layer.style.visibility = "hidden";
  });
}

export async function readPatches<Name extends string>(
  tab: BrowserTab,
  boxes: ReadonlyMap<Name, PatchBox>,
): Promise<ReadonlyMap<Name, Patch>> {
  const url = toDataUrl(await screenshotMap(tab));
  const input = { url, boxes: [...boxes.values()] };
  const cut = await inBlankPage(tab.page, (blank) => blank.evaluate(cutPatches, input));
  return new Map(
    [...boxes].map(([name, box], i) => [name, new Patch(box, Buffer.from(cut[i] ?? "", "base64"))]),
  );
}

/** Base64, because Playwright takes long for many numbers. Runs in the browser, so it uses nothing outside its body. */
async function cutPatches({ url, boxes }: { url: string; boxes: PatchBox[] }): Promise<string[]> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  return boxes.map(({ x, y, width, height }) =>
    btoa(String.fromCharCode(...context.getImageData(x, y, width, height).data)),
  );
}
