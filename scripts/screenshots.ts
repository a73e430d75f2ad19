/**
 * Makes the images of the README and of docs/map.md: the page on simulated networks of 50, 1,000 and 10,000 devices, whose
 * changes are the same in every run, at a fixed revision. `npm run screenshots [FOLDER]`. Needs chromium. Fails if an image is
 * too large.
 */
import { join, resolve } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "../test/web/chromium.ts";
import { startDemoService } from "../test/web/demo-service.ts";

const folder = resolve(process.argv[2] ?? join(import.meta.dir, "../docs/images"));
const MAX_BYTES = 200_000;
/** Hundreds of cards make a PNG too large, so that picture is a JPEG whose text is still sharp. */
const JPEG_QUALITY = 80;
/** The revision that is shown: late enough for something to be down. */
const REVISION = 30;
/** The number of critical problems that a large network has when it is shown. */
const MIN_PROBLEMS = 4;

const WIDE = { viewport: { width: 1120, height: 700 }, colorScheme: "dark" } as const;
const LIGHT = { ...WIDE, colorScheme: "light" } as const;
const PHONE = {
  viewport: { width: 390, height: 844 },
  colorScheme: "dark",
  hasTouch: true,
  isMobile: true,
} as const;

const browser = await launchChromium();
let service: Awaited<ReturnType<typeof startDemoService>>;

async function get(path: string): Promise<Response> {
  const authorization = `Basic ${btoa(`${service.user.username}:${service.user.password}`)}`;
  const response = await fetch(service.url + path, { headers: { authorization } });
  // On a busy machine the service sheds load.
  if (response.status === 503) return Bun.sleep(1000).then(() => get(path));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** The device with this name, as `devices:ID`. */
async function device(name: string): Promise<string> {
  const { devices } = await (await get(`/controller/v1/devices?annotations.name=${name}`)).json();
  return `devices:${devices[0].id}`;
}

async function shoot(
  name: string,
  options: BrowserContextOptions,
  path: string,
  prepare: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({
    httpCredentials: service.user,
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(service.url + path);
  await page.locator('[data-drawn="true"]').waitFor();
  await page.locator(".bars rect").first().waitFor();
  await prepare(page);
  const file = join(folder, name);
  await page.screenshot({ path: file, ...(name.endsWith(".jpg") && { quality: JPEG_QUALITY }) });
  const { size } = Bun.file(file);
  console.log(`${file} ${size} bytes`);
  if (size > MAX_BYTES) throw new Error(`${file} has more than ${MAX_BYTES} bytes`);
  await context.close();
}

const shown = (selector: string) => (page: Page) => page.locator(selector).first().waitFor();

async function hoverCentre(page: Page): Promise<void> {
  await page.waitForFunction(
    () => Number(document.querySelector<HTMLElement>(".map")?.dataset.lineTexts) > 4,
  );
  const box = await page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.locator(".hover-card").waitFor();
}

/** Shoots pictures of a network. */
async function withNetwork(size: string, take: () => Promise<void>): Promise<void> {
  service = await startDemoService(size);
  try {
    await take();
  } finally {
    await service.stop();
  }
}

async function untilRevision(): Promise<void> {
  while (Number((await get("/controller/v1/topology")).headers.get("gazetteer-revision")) < REVISION) {
    await Bun.sleep(200);
  }
}

const at = `at=${REVISION}&span=15min`;

async function shootDetails(): Promise<void> {
  const [core, leaf, far] = [
    await device("lon1-core2"),
    await device("lon1-leaf3"),
    await device("fra1-acc4"),
  ];
  await shoot("device.png", WIDE, `/?selected=${core}&${at}`, shown(".panel table.ports"));
  const spine = (await device("lon1-spine1")).slice("devices:".length);
  await shoot("cables.png", LIGHT, `/?camera=0,0,260,${spine}&${at}`, hoverCentre);
  await shoot("path.png", WIDE, `/?path=${leaf}&path=${far}&${at}`, shown(".panel .way li"));
  await shoot("changes.png", LIGHT, "/?changes=1&span=15min", shown(".changes li"));
  await shoot("phone.png", PHONE, `/?selected=${core}&${at}`, shown(".panel table.ports"));
}

/** The whole network of a large size, live, once it is loaded and some of its cards have faults. */
async function shootCards(name: string): Promise<void> {
  const problems = async () =>
    (await (await get("/controller/v1/topology/problems?causedBy=&severity=critical&limit=50")).json())
      .problems;
  while ((await problems()).length < MIN_PROBLEMS) await Bun.sleep(500);
  await shoot(name, WIDE, "/?span=15min", shown('.map[data-detail="clusters"]'));
}

try {
  await withNetwork("devices=50,hosts=300,churn=2", async () => {
    await untilRevision();
    await shoot("map.png", WIDE, `/?${at}`, shown('.map[data-detail="devices"]'));
    await shootDetails();
  });
  await withNetwork("devices=1000,hosts=10000,churn=3", () => shootCards("map-1000.png"));
  await withNetwork("devices=10000,hosts=100000,churn=10", () => shootCards("map-10000.jpg"));
} finally {
  await browser.close();
}
