/**
 * Launches Debian's Chromium for the tests, the benchmarks and the screenshot: headless, with WebGL in software. Its build
 * without windows, where it is installed, needs a third less processor time.
 */
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
  // The rest of the page is drawn without GL: in software that needs about two thirds of the processor time.
  "--disable-gpu-compositing",
  "--disable-gpu-rasterization",
];

export function launchChromium(): Promise<Browser> {
  const program = Bun.which("chromium-headless-shell") ?? Bun.which("chromium") ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath: program, args: ARGS });
}
