/** A button and what it opens below itself. Escape or a click elsewhere closes it, and the button has focus again. */
import { h } from "../dom.ts";

export interface Popover {
  readonly element: HTMLElement;
  readonly trigger: HTMLButtonElement;
  readonly body: HTMLElement;
  isOpen(): boolean;
  close(): void;
}

let made = 0;

export function createPopover(words: string, face: Node, onOpen: () => void, showWords = false): Popover {
  const id = `popover-${++made}`;
  const body = h("div", { class: "popover", id, role: "group", "aria-label": words, hidden: true });
  const trigger = h(
    "button",
    {
      type: "button",
      class: showWords ? "text-button" : "icon-button",
      // What it shows is its name, where it shows words.
      "aria-label": showWords ? undefined : words,
      "aria-expanded": "false",
      "aria-controls": id,
      title: words,
      onclick: () => set(body.hidden === true),
    },
    face,
  );
  const element = h("div", { class: "popover-anchor" }, trigger, body);
  const set = (open: boolean) => {
    body.hidden = !open;
    trigger.setAttribute("aria-expanded", String(open));
    if (open) onOpen();
  };
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || body.hidden) return;
    event.stopPropagation();
    set(false);
    trigger.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!body.hidden && event.target instanceof Node && !element.contains(event.target)) set(false);
  });
  return { element, trigger, body, isOpen: () => !body.hidden, close: () => set(false) };
}
