/** What narrows the view right now, each with a cross to undo it: nobody should wonder why something is not there. */

import { h, replace } from "../dom.ts";
import { formatFullTime } from "../format-time.ts";
import { icon } from "../icon.tsx";
import { STATES } from "../map/focus.ts";
import { cableName, deviceNameById, formatType, hostName } from "../names.ts";
import type { Network } from "../network.ts";
import { type EntityRef, MAX_HOPS, type ViewState } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";

export function refName(network: Network | undefined, { kind, id }: EntityRef): string {
  if (!network) return id;
  if (kind === "devices") return deviceNameById(network, id);
  const host = kind === "hosts" ? network.hosts.get(id) : undefined;
  const link = kind === "links" ? network.links.get(id) : undefined;
  return host ? hostName(host) : link ? cableName(network, { from: link.src, to: link.dst }) : id;
}

export function createChips(actions: Actions): Part {
  const element = h("div", { class: "chips", role: "group", "aria-label": "What narrows this view" });
  let drawn = "";

  function chip(words: string, undo: Partial<ViewState>, ...extra: HTMLElement[]): HTMLElement {
    const cross = h(
      "button",
      { type: "button", class: "chip-x", "aria-label": `Undo: ${words}`, onclick: () => actions.go(undo) },
      icon("close"),
    );
    return h("span", { class: "chip" }, h("span", {}, words), ...extra, cross);
  }

  function hopButton(words: string, face: "plus" | "minus", hops: number): HTMLElement {
    return h(
      "button",
      {
        type: "button",
        class: "chip-x",
        "aria-label": words,
        disabled: hops < 1 || hops > MAX_HOPS,
        onclick: () => actions.go({ hops }),
      },
      icon(face),
    );
  }

  return {
    element,
    update({ state, network, picking, comparison }: Model) {
      const { types, states, sources, around, hops, path, at, compare, view } = state;
      const key = JSON.stringify([
        types,
        states,
        sources,
        around,
        hops,
        path,
        at,
        compare,
        view,
        picking,
        comparison?.from,
        network?.devices.size,
        network?.hostsLoaded,
      ]);
      if (key === drawn) return;
      drawn = key;
      const onMap = view === "map";
      const stateWords = (one: string) => Object.entries(STATES).find(([name]) => name === one)?.[1] ?? one;
      const chips: HTMLElement[] = [];
      if (picking) {
        const cancel = h(
          "button",
          {
            type: "button",
            class: "chip-x",
            "aria-label": "Cancel",
            onclick: () => actions.beginWay(undefined),
          },
          icon("close"),
        );
        chips.push(
          h(
            "span",
            { class: "chip strong" },
            `Path from ${refName(network, picking)}: now pick the other end`,
            cancel,
          ),
        );
      }
      if (compare !== undefined) {
        const words = `Compared: ${momentWords(compare)} → ${at === undefined ? "now" : momentWords(at)}`;
        chips.push(chip(words, { compare: undefined }));
      } else if (at !== undefined) chips.push(chip(`As of ${momentWords(at)}`, { at: undefined }));
      if (onMap && types.length > 0) chips.push(chip(types.map(formatType).join(", "), { types: [] }));
      if (onMap && states.length > 0) chips.push(chip(states.map(stateWords).join(", "), { states: [] }));
      if (onMap && sources.length > 0) chips.push(chip(`From ${sources.join(", ")}`, { sources: [] }));
      if (onMap && around !== undefined) {
        const name = refName(network, { kind: "devices", id: around });
        const words = `Within ${hops} ${hops === 1 ? "hop" : "hops"} of ${name}`;
        const steps = [
          hopButton("One hop fewer", "minus", hops - 1),
          hopButton("One hop more", "plus", hops + 1),
        ];
        chips.push(chip(words, { around: undefined, hops: 1 }, ...steps));
      }
      if (onMap && path) {
        const [from, to] = path.map((end) => refName(network, end));
        chips.push(chip(`Path ${from} → ${to}`, { path: undefined }));
      }
      replace(element, chips);
    },
  };
}

const momentWords = (at: string): string =>
  /^\d+$/.test(at) ? `revision ${at}` : formatFullTime(Date.parse(at));
