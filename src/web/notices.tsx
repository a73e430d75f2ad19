/** Short sentences that come and go: what was copied, what failed. They are read out too. */
import { h } from "./dom.ts";

const STAY_MS = 4000;

export interface Notices {
  readonly element: HTMLElement;
  say(words: string): void;
}

export function createNotices(): Notices {
  const element = h("div", { class: "notices", role: "status", "aria-live": "polite" });
  return {
    element,
    say(words) {
      const notice = h("p", { class: "notice" }, words);
      element.append(notice);
      setTimeout(() => notice.remove(), STAY_MS);
    },
  };
}
