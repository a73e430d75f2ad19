/** A phone, and fingers on its screen. */
import type { BrowserTab } from "./browser.ts";

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

type Finger = readonly [x: number, y: number];

/** Presses the fingers, moves them in steps and lifts them. */
export type Touch = (from: readonly Finger[], to: readonly Finger[]) => Promise<void>;

export async function createTouch({ page }: BrowserTab): Promise<Touch> {
  const session = await page.context().newCDPSession(page);
  const send = (type: "touchStart" | "touchMove" | "touchEnd", fingers: readonly Finger[]) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: fingers.map(([x, y], id) => ({ x, y, id })),
    });
  return async (from, to) => {
    await send("touchStart", from);
    for (const share of [0.25, 0.5, 0.75, 1]) {
      const fingers = from.map(([x, y], i): Finger => {
        const [toX = x, toY = y] = to[i] ?? [];
        return [x + (toX - x) * share, y + (toY - y) * share];
      });
      await send("touchMove", fingers);
    }
    await send("touchEnd", []);
  };
}
