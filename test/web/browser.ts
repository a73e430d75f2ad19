/**
 * Opens the page of a service in Debian's Chromium, with credentials. Each tab records what must not occur on any page:
 * errors on the console, exceptions, violations of the content security policy, and requests to another origin.
 */
import { afterAll, expect, setDefaultTimeout } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Service } from "../support/service.ts";
import { until } from "../support/until.ts";
import { launchChromium } from "./chromium.ts";

/**
 * These timeouts only end a hang: WebGL in software is slow on a busy machine. They are set here for every file that
 * opens a browser, also when `bun test` runs without the options of `npm test`.
 */
const TEST_TIMEOUT_MS = 600_000;
const WAIT_TIMEOUT_MS = 120_000;
setDefaultTimeout(TEST_TIMEOUT_MS);

const VIEWPORT = { width: 1280, height: 800 };

let browser: Promise<Browser> | undefined;

afterAll(async () => {
  const openBrowser = await browser;
  browser = undefined;
  idle = undefined;
  await openBrowser?.close();
});

export interface BrowserTab {
  readonly page: Page;
  /** Exceptions and errors on the console so far. */
  readonly errors: string[];
  /** The URLs of requests to another origin. */
  readonly externalRequests: string[];
  /** Resolves when the map, the table, the empty state or an error is shown. */
  goto(path: string): Promise<void>;
  close(): Promise<void>;
}

/** A page of the browser with the defaults of these tests. */
interface OpenPage {
  readonly page: Page;
  readonly credentials: string;
  /** What it was changed to cannot be undone: the page is not used again. */
  isSpoiled: boolean;
}

/**
 * The page that the tests of a file use one after the other: opening another one takes twice as much processor time as
 * loading the application again. It comes without storage, routes and listeners of the test before.
 */
let idle: OpenPage | undefined;

async function openPage(credentials: string, options: BrowserContextOptions): Promise<OpenPage> {
  browser ??= launchChromium();
  const [username = "", ...rest] = credentials.split(":");
  const context = await (await browser).newContext({
    httpCredentials: { username, password: rest.join(":") },
    viewport: VIEWPORT,
    reducedMotion: "reduce",
    colorScheme: "dark",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_TIMEOUT_MS);
  const open: OpenPage = { page, credentials, isSpoiled: Object.keys(options).length > 0 };
  const spoils = <A extends unknown[], R>(call: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      open.isSpoiled = true;
      return call(...args);
    };
  };
  page.addInitScript = spoils(page.addInitScript.bind(page));
  page.clock.install = spoils(page.clock.install.bind(page.clock));
  page.emulateMedia = spoils(page.emulateMedia.bind(page));
  return open;
}

async function closePage(open: OpenPage, origin: string): Promise<void> {
  const { page, isSpoiled } = open;
  const context = page.context();
  if (isSpoiled || idle || page.isClosed()) return context.close();
  page.removeAllListeners();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.unrouteAll({ behavior: "ignoreErrors" });
  await context.setOffline(false);
  for (const other of context.pages()) if (other !== page) await other.close();
  // Before the storage is cleared: the application stores what it has when it is left. A small file of the same service
  // keeps the process of the page; another site would need a new one, which takes as long as half of a load.
  const icon = await page
    .locator('link[rel="icon"]')
    .getAttribute("href", { timeout: 1 })
    .catch(() => null);
  await page.goto(origin + icon).catch(() => page.goto("about:blank"));
  const session = await context.newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage" });
  await session.detach();
  await page.setViewportSize(VIEWPORT);
  idle = open;
}

export async function openTab(
  service: Pick<Service, "url" | "credentials">,
  options: BrowserContextOptions = {},
): Promise<BrowserTab> {
  const canReuse = idle?.credentials === service.credentials && Object.keys(options).length === 0;
  const reused = canReuse ? idle : undefined;
  if (reused) idle = undefined;
  const open = reused ?? (await openPage(service.credentials, options));
  const { page } = open;
  const errors: string[] = [];
  const externalRequests: string[] = [];
  const failedRequests: string[] = [];
  let onOverload = () => {};
  page.on("response", (response) => {
    if (response.status() === 503 && response.url().includes("/assets/")) onOverload();
  });
  page.on("requestfailed", (request) =>
    failedRequests.push(`${request.url()}: ${request.failure()?.errorText}`),
  );
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // The browser logs every response with an error status. Such responses are expected, and the page shows them.
    const isErrorStatus = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isErrorStatus) errors.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(service.url) && !url.startsWith("blob:") && !url.startsWith("data:"))
      externalRequests.push(url);
  });
  return {
    page,
    errors,
    externalRequests,
    async goto(path) {
      const content = page.locator(CONTENT).first();
      for (;;) {
        const overloaded = new Promise<false>((resolve) => {
          onOverload = () => resolve(false);
        });
        await page.goto(service.url + path);
        const shown = content.waitFor().then(
          () => true as const,
          async (error: unknown) => {
            const text = await page.locator("body").innerText();
            const lines = [`${path} shows no content, but:`, text, ...errors, ...failedRequests];
            throw new Error(lines.join("\n"), { cause: error });
          },
        );
        // Without one of its assets the page cannot start, so it is loaded again, as a user would do.
        if (await Promise.race([shown, overloaded])) return;
        shown.catch(() => {}); // Rejected by the next navigation.
      }
    },
    close: () => closePage(open, service.url),
  };
}

const CONTENT =
  '[data-drawn="true"], .grid [role="row"][aria-rowindex="2"], .empty h2, .nothing, .fault:not([hidden])';

/** Waits until the assertions hold. On timeout the error has the last failed assertion as its cause. */
export async function eventually(what: string, assertions: () => Promise<void>): Promise<void> {
  const hold = () => assertions().then(() => true);
  await until(hold, { what, deadlineMs: WAIT_TIMEOUT_MS });
}

/** Needed although the page changes its address before its content: the browser reports the two separately. */
export async function waitForUrlPart({ page }: BrowserTab, part: string): Promise<void> {
  await eventually(`${part} in the address`, async () => expect(page.url()).toContain(part));
}
