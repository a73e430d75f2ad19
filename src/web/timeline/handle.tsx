/** One handle of the time line: a slider for pointers, keys and screen readers alike. */
import { h } from "../dom.ts";

export interface Handle {
  readonly element: HTMLElement;
  place(ms: number, words: string): void;
  /** Starts a drag where the pointer is. */
  grab(event: PointerEvent): void;
}

interface HandleOptions {
  span(): { readonly from: number; readonly to: number };
  oldest(): number;
  /** `done` is false while the drag goes on. */
  move(ms: number, done: boolean): void;
}

/** While dragging the network is asked for at most this often. */
const DRAG_PAUSE_MS = 120;

export function createHandle(
  track: HTMLElement,
  label: string,
  { span, oldest, move }: HandleOptions,
): Handle {
  let value = Date.now();
  const element = h("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": label });

  const at = (event: PointerEvent): number => {
    const box = track.getBoundingClientRect();
    const { from, to } = span();
    const share = (event.clientX - box.left) / box.width;
    return Math.min(to, Math.max(oldest(), from + share * (to - from)));
  };

  function grab(event: PointerEvent): void {
    if (event.button !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    element.focus();
    let [asked, first] = [0, true];
    const drag = (moved: PointerEvent) => {
      show(at(moved));
      if (performance.now() - asked < DRAG_PAUSE_MS) return;
      asked = performance.now();
      // The first step can be gone back over, the rest of the drag is that same step.
      move(at(moved), first);
      first = false;
    };
    const drop = (moved: PointerEvent) => {
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", drop);
      move(at(moved), first);
    };
    addEventListener("pointermove", drag);
    addEventListener("pointerup", drop);
    drag(event);
  }

  function show(ms: number): void {
    value = ms;
    const { from, to } = span();
    const share = Math.min(1, Math.max(0, (ms - from) / (to - from)));
    element.style.left = `${share * 100}%`;
  }

  element.addEventListener("pointerdown", grab);
  element.addEventListener("keydown", (event) => {
    const { from, to } = span();
    const step = (to - from) / 60;
    const next = {
      ArrowLeft: value - step,
      ArrowRight: value + step,
      PageUp: value + step * 5,
      PageDown: value - step * 5,
      Home: oldest(),
      End: to,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    move(Math.min(to, Math.max(oldest(), next)), true);
  });

  return {
    element,
    grab,
    place(ms, words) {
      show(ms);
      const { from, to } = span();
      element.setAttribute("aria-valuemin", String(Math.round(from)));
      element.setAttribute("aria-valuemax", String(Math.round(to)));
      element.setAttribute("aria-valuenow", String(Math.round(ms)));
      element.setAttribute("aria-valuetext", words);
    },
  };
}
