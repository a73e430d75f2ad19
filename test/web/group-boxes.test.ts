/** What a user puts behind devices: group boxes around them and a picture, and their exports. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { needs } from "../support/needs.ts";
import { type Service, startService } from "../support/service.ts";
import { box, createArrangedNetwork, openViews, pin, viewsBox } from "./arranging.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, eventually, openTab } from "./browser.ts";
import { download } from "./download.ts";
import { deviceId } from "./network-file.ts";

const hasChromium = needs("chromium");
const file = createArrangedNetwork();
let service: Service;

beforeAll(async () => {
  if (!hasChromium) return;
  service = await startService({ args: ["--data", ":memory:", "--config", file.config] });
});
afterAll(() => file.remove());

const RED_PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** The colour of the lowest layer of the map at its centre. */
const backgroundColour = ({ page }: BrowserTab) =>
  page
    .locator(".map > canvas")
    .first()
    .evaluate((canvas) => {
      if (!(canvas instanceof HTMLCanvasElement)) return [];
      const { width, height } = canvas;
      return [...(canvas.getContext("2d")?.getImageData(width / 2, height / 2, 1, 1).data ?? [])];
    });

test.skipIf(!hasChromium)(
  "group boxes and a picture are drawn below the devices, and axe finds nothing",
  async () => {
    const tab = await openTab(service);
    const groups = (count: number) => tab.page.locator(`.map[data-groups="${count}"]`).waitFor();
    await pin(tab, deviceId(12));
    for (const section of ["Group boxes", "Background"])
      await box(tab).getByRole("heading", { name: section }).click();
    await box(tab).getByLabel("Box around").selectOption({ label: "each value of rack" });
    await box(tab).getByRole("button", { name: "Add the box" }).click();
    await groups(2);
    await box(tab).getByLabel("Box around").selectOption({ label: "the 1 pinned device" });
    await box(tab).getByLabel("Title").fill("By hand");
    await box(tab).getByRole("button", { name: "Add the box" }).click();
    await groups(3);
    await box(tab).getByRole("button", { name: "Delete the box rack" }).click();
    await groups(1);
    await box(tab).getByText("By hand 1 device").waitFor();

    expect(await box(tab).getByLabel("Coastline").isDisabled()).toBe(true);
    await box(tab).getByText("No device has a latitude and a longitude.").waitFor();
    const pictureFile = { name: "plan.png", mimeType: "image/png", buffer: Buffer.from(RED_PIXEL, "base64") };
    await box(tab).getByLabel("Picture file").setInputFiles(pictureFile);
    await eventually("the picture", async () => {
      const [red = 0, green = 0, blue = 0] = await backgroundColour(tab);
      expect(red - Math.max(green, blue)).toBeGreaterThan(100);
    });
    expect(await audit(tab)).toEqual([]);
    const svg = String(await download(tab, "Download SVG"));
    expect(svg).toContain(">By hand</text>");
    expect(svg).toContain('href="data:image/');
    expect(svg).toContain("6 devices");
    await openViews(tab);
    await viewsBox(tab).getByRole("button", { name: "Show for the configuration" }).click();
    expect(await viewsBox(tab).getByLabel("Section for").inputValue()).toContain('picture: "data:image/');
    expect(await audit(tab)).toEqual([]);
    await tab.page.keyboard.press("Escape");
    await box(tab).getByLabel("Left").fill("100000");
    await box(tab).getByLabel("Left").press("Enter");
    await eventually("the picture elsewhere", async () => {
      const [red = 0, green = 0, blue = 0] = await backgroundColour(tab);
      expect(red - Math.max(green, blue)).toBeLessThan(60);
    });
    await box(tab).getByRole("button", { name: "Remove the picture" }).click();
    await box(tab).getByLabel("Left").waitFor({ state: "detached" });
    expect(tab.errors).toEqual([]);
    expect(tab.externalRequests).toEqual([]);
    await tab.close();
  },
);
