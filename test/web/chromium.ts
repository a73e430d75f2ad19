/** Launches Debian's Chromium for the tests, the benchmarks and the screenshot: headless, with WebGL in software. */
import { type Browser, chromium } from "playwright-core";

const ARGS = [
  "--no-sandbox",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  // WebGL without a GPU.
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: Bun.which("chromium") ?? "/usr/bin/chromium", args: ARGS });
}
