/** Debian's Chromium as the tests, the measurements and the screenshot use it: headless, quiet, WebGL in software. */
import { type Browser, chromium } from "playwright-core";

const ARGS = [
  "--no-sandbox",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  // WebGL without a graphics card.
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: Bun.which("chromium") ?? "/usr/bin/chromium", args: ARGS });
}
