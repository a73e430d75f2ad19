/**
 * A person at the page: Debian's Chromium, logged in, looking at the real service. It writes down what no visit may
 * do: errors on the console, exceptions, violations of the policy, requests that leave the service's origin.
 */
import { afterAll, expect, setDefaultTimeout } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Service } from "../support/service.ts";
import { until } from "../support/until.ts";
import { openChromium } from "./chromium.ts";

/**
 * Deadlines here end a hang and measure nothing: WebGL in software on a busy machine takes its time. They hold for
 * every file that opens a browser, also where `bun test` runs without the options of `npm test`.
 */
const TEST_DEADLINE_MS = 600_000;
const WAIT_DEADLINE_MS = 120_000;
setDefaultTimeout(TEST_DEADLINE_MS);

let browser: Promise<Browser> | undefined;

afterAll(async () => {
  const open = await browser;
  browser = undefined;
  await open?.close();
});

export interface Visit {
  readonly page: Page;
  /** What went wrong so far. */
  readonly troubles: string[];
  readonly outside: string[];
  /** The map, or the empty state, is on the screen and everything was read. */
  goto(path: string): Promise<void>;
  close(): Promise<void>;
}

export async function visit(
  service: Pick<Service, "url" | "credentials">,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  browser ??= openChromium();
  const [username = "", ...rest] = service.credentials.split(":");
  const context = await (await browser).newContext({
    httpCredentials: { username, password: rest.join(":") },
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    colorScheme: "dark",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_DEADLINE_MS);
  const troubles: string[] = [];
  const outside: string[] = [];
  let onBusy = () => {};
  page.on("response", (answer) => {
    if (answer.status() === 503 && answer.url().includes("/assets/")) onBusy();
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("console", (message) => {
    // A refusal, or a service too busy for a moment: the page says so itself, and the browser notes it here too.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isAnswer) troubles.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(service.url) && !url.startsWith("blob:") && !url.startsWith("data:"))
      outside.push(url);
  });
  return {
    page,
    troubles,
    outside,
    async goto(path) {
      const content = page.locator(CONTENT).first();
      for (;;) {
        const busy = new Promise<false>((resolve) => {
          onBusy = () => resolve(false);
        });
        await page.goto(service.url + path);
        const shown = content.waitFor().then(() => true as const);
        // Too busy to hand out the page itself, or its worker: a person comes again.
        if (await Promise.race([shown, busy])) return;
        shown.catch(() => {}); // its page is gone
      }
    },
    close: () => context.close(),
  };
}

const CONTENT =
  '[data-drawn="true"], .grid [role="row"][aria-rowindex="2"], .empty h2, .nothing, .fault:not([hidden])';

/** Waits until the assertions hold, and fails with the last one that did not. */
export async function eventually(what: string, assertions: () => Promise<void>): Promise<void> {
  const holds = () => assertions().then(() => true);
  await until(holds, { what, deadlineMs: WAIT_DEADLINE_MS });
}

/** The address changes before the picture, but the browser reports the two separately. */
export async function addressContains({ page }: Visit, part: string): Promise<void> {
  await eventually(`${part} in the address`, async () => expect(page.url()).toContain(part));
}

/** A picture of the map as it was last drawn: the renderer draws in the animation frame after a change. */
export async function pictureOfMap({ page }: Visit): Promise<Buffer> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
  return page.locator(".map").screenshot();
}

export interface Ink {
  /** Share of pixels that are not the ground. */
  readonly share: number;
  /** How many of 8 × 6 fields of the picture have something in them. */
  readonly fields: number;
  /** Share of pixels that are clearly red: what is down. */
  readonly red: number;
}

/** What is on the map, as a picture: looked at in a page of its own, which no policy binds. */
export async function inkOfMap(visit: Visit): Promise<Ink> {
  const picture = await pictureOfMap(visit);
  return atDesk(visit.page, (desk) => desk.evaluate(measureInk, urlOf(picture)));
}

/** The share of pixels in which two pictures of one size clearly differ. */
export function changedShare({ page }: Visit, before: Buffer, after: Buffer): Promise<number> {
  return atDesk(page, (desk) => desk.evaluate(compare, [urlOf(before), urlOf(after)]));
}

const urlOf = (picture: Buffer): string => `data:image/png;base64,${picture.toString("base64")}`;

async function atDesk<T>(page: Page, work: (desk: Page) => Promise<T>): Promise<T> {
  const desk = await page.context().newPage();
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

/** Runs in the browser. */
async function compare(urls: readonly string[]): Promise<number> {
  const pixels: Uint8ClampedArray[] = [];
  for (const url of urls) {
    const image = new Image();
    image.src = url;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    if (!context) throw new Error("no canvas");
    context.drawImage(image, 0, 0);
    pixels.push(context.getImageData(0, 0, image.width, image.height).data);
  }
  const [a, b] = pixels;
  if (!a || !b || a.length !== b.length) return 1;
  let changed = 0;
  for (let i = 0; i < a.length; i += 4) {
    const away = [0, 1, 2].reduce((sum, j) => sum + Math.abs((a[i + j] ?? 0) - (b[i + j] ?? 0)), 0);
    if (away > 120) changed++;
  }
  return changed / (a.length / 4);
}

/** Runs in the browser. */
async function measureInk(url: string): Promise<Ink> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const sheet = new OffscreenCanvas(image.width, image.height);
  const context = sheet.getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  // Plates are near the ground, and are no ink.
  const ground = [data[0] ?? 0, data[1] ?? 0, data[2] ?? 0];
  let [inked, red] = [0, 0];
  const fields = new Set<number>();
  for (let i = 0; i < data.length; i += 4) {
    const [r = 0, g = 0, b = 0] = [data[i], data[i + 1], data[i + 2]];
    const away =
      Math.abs(r - (ground[0] ?? 0)) + Math.abs(g - (ground[1] ?? 0)) + Math.abs(b - (ground[2] ?? 0));
    if (away < 90) continue;
    inked++;
    if (r > 190 && g < 150 && b < 150) red++;
    const pixel = i / 4;
    const column = Math.floor(((pixel % image.width) / image.width) * 8);
    const row = Math.floor((Math.floor(pixel / image.width) / image.height) * 6);
    fields.add(row * 8 + column);
  }
  const pixels = data.length / 4;
  return { share: inked / pixels, fields: fields.size, red: red / pixels };
}
