/** What can be taken away from a view: the request as a line for a terminal, a picture, a file. */
import { curlLine, requestFor } from "../curl.ts";
import { h, replace } from "../dom.ts";
import { icon } from "../icon.tsx";
import type { Actions, Model, Part } from "../store.ts";
import { createPopover } from "./popover.tsx";

export async function copyText(words: string, actions: Pick<Actions, "say">, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(words);
    actions.say(`Copied ${what}`);
  } catch {
    // Without a secure origin there is no clipboard; the words are still of use.
    actions.say(words);
  }
}

export function download(href: string, name: string): void {
  const link = h("a", { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

export function createTakeaway(actions: Actions, png: () => Promise<Blob>): Part {
  let model: Model | undefined;
  const popover = createPopover("Export and share", icon("download"), () => draw());
  const entry = (words: string, act: () => void) =>
    h(
      "button",
      {
        type: "button",
        class: "menu-item",
        onclick: () => {
          popover.close();
          act();
        },
      },
      words,
    );

  function draw(): void {
    if (!model) return;
    const { state } = model;
    const stamp = (state.at ?? new Date().toISOString()).replaceAll(/[:.]/g, "-").slice(0, 19);
    const curl = entry("Copy as curl", () => {
      void copyText(curlLine(location.origin, requestFor(state)), actions, "the request as curl");
    });
    const link = entry("Copy link to this view", () => void copyText(location.href, actions, "the link"));
    const onMap = [
      entry("Download PNG", () => {
        void png().then((blob) => {
          const url = URL.createObjectURL(blob);
          download(url, `network-${stamp}.png`);
          setTimeout(() => URL.revokeObjectURL(url), 10_000);
        });
      }),
      entry("Download SVG", () => download(requestFor(state, "svg"), `network-${stamp}.svg`)),
      entry("Download GraphML", () => download(requestFor(state, "graphml"), `network-${stamp}.graphml`)),
    ];
    const onTable = [
      entry("Download CSV", () => download(requestFor(state, "csv"), `${state.view}-${stamp}.csv`)),
      entry("Download NDJSON", () => download(requestFor(state, "ndjson"), `${state.view}-${stamp}.ndjson`)),
    ];
    replace(popover.body, curl, link, state.view === "map" ? onMap : onTable);
  }

  return {
    element: popover.element,
    update(next) {
      const before = model;
      model = next;
      // A button that is replaced between press and release of the pointer gets no click.
      if (popover.isOpen() && before?.state !== next.state) draw();
    },
  };
}
