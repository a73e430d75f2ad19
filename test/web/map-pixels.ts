/** Screenshots of the map, and what their pixels show: how much is drawn, where, and what changed. */
import type { Page } from "playwright-core";
import type { BrowserTab } from "./browser.ts";

export interface DrawnPixels {
  /** The share of pixels that differ from the background. */
  readonly share: number;
  /** The number of cells of a grid of 8 × 6 over the map that contain such a pixel. */
  readonly cells: number;
  /** The share of pixels in the colour of devices and links that are down. */
  readonly redShare: number;
}

/** Waits for two animation frames first, because the renderer draws in the frame after a change. */
export async function screenshotMap({ page }: BrowserTab): Promise<Buffer> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  return page.locator(".map").screenshot();
}

/** Of what the tab shows, or of another picture of the map. */
export async function measureDrawnPixels(tab: BrowserTab, picture?: Buffer): Promise<DrawnPixels> {
  const image = picture ?? (await screenshotMap(tab));
  return inBlankPage(tab.page, (page) => page.evaluate(countDrawnPixels, toDataUrl(image)));
}

/** The number of pixels in a colour such as `#d9a514`, nearly. */
export async function countPixelsOf(tab: BrowserTab, colour: string): Promise<number> {
  const image = await screenshotMap(tab);
  const input = { url: toDataUrl(image), colour };
  return inBlankPage(tab.page, (page) => page.evaluate(countColour, input));
}

/**
 * The number of pixels of the map that are drawn below the elements: what they hide. The elements themselves, and all that
 * lies over the map, are invisible meanwhile.
 */
export async function countHiddenPixels(tab: BrowserTab, covers: string): Promise<number> {
  const { page } = tab;
  const map = await page.locator(".map").boundingBox();
  if (!map) throw new Error("no map");
  const areas: Rectangle[] = [];
  for (const cover of await page.locator(covers).all()) {
    const box = await cover.boundingBox();
    if (box) areas.push({ ...box, x: box.x - map.x, y: box.y - map.y });
  }
  const setVisibility = (visibility: string) =>
    page.locator(covers).evaluateAll((elements, value) => {
      for (const element of elements) if (element instanceof HTMLElement) element.style.visibility = value;
    }, visibility);
  await setVisibility("hidden");
  const url = toDataUrl(await screenshotMap(tab));
  await setVisibility("");
  return inBlankPage(page, (blank) => blank.evaluate(countDrawnWithin, { url, areas, mapWidth: map.width }));
}

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Runs in the browser, so it uses nothing outside its body. */
async function countDrawnWithin(input: {
  url: string;
  areas: readonly Rectangle[];
  mapWidth: number;
}): Promise<number> {
  const image = new Image();
  image.src = input.url;
  await image.decode();
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  // The first row may have the border of the bar, where the map begins between two pixels.
  const background = context.getImageData(2, 2, 1, 1).data;
  const scale = image.width / input.mapWidth;
  let drawn = 0;
  for (const { x, y, width, height } of input.areas) {
    const { data } = context.getImageData(x * scale, y * scale, width * scale, height * scale);
    for (let i = 0; i < data.length; i += 4) {
      const difference = [0, 1, 2].reduce(
        (sum, j) => sum + Math.abs((data[i + j] ?? 0) - (background[j] ?? 0)),
        0,
      );
      // The backgrounds of clusters are below this threshold and do not count.
      if (difference >= 90) drawn++;
    }
  }
  return drawn;
}

/** The share of pixels that clearly differ between two images of the same size. */
export function changedPixelShare({ page }: BrowserTab, before: Buffer, after: Buffer): Promise<number> {
  return inBlankPage(page, (blank) => blank.evaluate(comparePixels, [toDataUrl(before), toDataUrl(after)]));
}

export const toDataUrl = (image: Buffer): string => `data:image/png;base64,${image.toString("base64")}`;

/** Another page decodes the images, because the page of the service has a content security policy. */
export async function inBlankPage<T>(page: Page, run: (blank: Page) => Promise<T>): Promise<T> {
  const blank = await page.context().newPage();
  try {
    return await run(blank);
  } finally {
    await blank.close();
  }
}

/** Runs in the browser, so it uses nothing outside its body. */
async function comparePixels(urls: readonly string[]): Promise<number> {
  const images: Uint8ClampedArray[] = [];
  for (const url of urls) {
    const image = new Image();
    image.src = url;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    if (!context) throw new Error("no canvas");
    context.drawImage(image, 0, 0);
    images.push(context.getImageData(0, 0, image.width, image.height).data);
  }
  const [a, b] = images;
  if (!a || !b || a.length !== b.length) return 1;
  let changed = 0;
  for (let i = 0; i < a.length; i += 4) {
    const difference = [0, 1, 2].reduce((sum, j) => sum + Math.abs((a[i + j] ?? 0) - (b[i + j] ?? 0)), 0);
    if (difference > 120) changed++;
  }
  return changed / (a.length / 4);
}

/** Runs in the browser, so it uses nothing outside its body. */
async function countColour({ url, colour }: { url: string; colour: string }): Promise<number> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const wanted = [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    if (wanted.every((channel, j) => Math.abs(channel - (data[i + j] ?? 0)) < 10)) count++;
  return count;
}

/** Runs in the browser, so it uses nothing outside its body. */
async function countDrawnPixels(url: string): Promise<DrawnPixels> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const background = [data[0] ?? 0, data[1] ?? 0, data[2] ?? 0];
  let [drawn, red] = [0, 0];
  const cells = new Set<number>();
  for (let i = 0; i < data.length; i += 4) {
    const [r = 0, g = 0, b = 0] = [data[i], data[i + 1], data[i + 2]];
    const difference =
      Math.abs(r - (background[0] ?? 0)) +
      Math.abs(g - (background[1] ?? 0)) +
      Math.abs(b - (background[2] ?? 0));
    // The backgrounds of clusters are below this threshold and do not count.
    if (difference < 90) continue;
    drawn++;
    if (r > 190 && g < 150 && b < 150) red++;
    const pixel = i / 4;
    const column = Math.floor(((pixel % image.width) / image.width) * 8);
    const row = Math.floor((Math.floor(pixel / image.width) / image.height) * 6);
    cells.add(row * 8 + column);
  }
  const pixels = data.length / 4;
  return { share: drawn / pixels, cells: cells.size, redShare: red / pixels };
}
