/** Which devices and links stand out on the map: by type, state and source, each with how many there are. */

import { hasConflict } from "../../model/entity.ts";
import { h, replace } from "../dom.ts";
import { icon } from "../icon.tsx";
import { STATES } from "../map/focus.ts";
import { formatType } from "../names.ts";
import type { Network } from "../network.ts";
import type { ViewState } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";
import { createPopover } from "./popover.tsx";

type Choice = "types" | "states" | "sources";

export function createFilters(actions: Actions): Part {
  let model: Model | undefined;
  const popover = createPopover("Filter", icon("filter"), () => draw());

  function toggle(choice: Choice, value: string): void {
    if (!model) return;
    const chosen = model.state[choice];
    const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
    actions.go({ [choice]: next });
  }

  function group(
    title: string,
    choice: Choice,
    counts: ReadonlyMap<string, number>,
    words: (value: string) => string,
  ) {
    const chosen: readonly string[] = model?.state[choice] ?? [];
    const values = new Set([...counts.keys(), ...chosen]);
    return h(
      "fieldset",
      {},
      h("legend", {}, title),
      [...values].map((value) =>
        h(
          "label",
          { class: "check" },
          h("input", {
            type: "checkbox",
            checked: chosen.includes(value),
            onchange: () => toggle(choice, value),
          }),
          h("span", {}, words(value)),
          h("span", { class: "count" }, (counts.get(value) ?? 0).toLocaleString("en")),
        ),
      ),
    );
  }

  function draw(): void {
    const network = model?.network;
    if (!network || !popover.isOpen()) return;
    const focused = document.activeElement?.closest("label")?.textContent;
    replace(
      popover.body,
      group("Type", "types", countTypes(network), formatType),
      group(
        "State",
        "states",
        countStates(network),
        (state) => STATES[state as keyof typeof STATES] ?? state,
      ),
      group("Source", "sources", countSources(network), (source) => source),
      h("button", { type: "button", class: "text-button", onclick: () => actions.go(NOTHING) }, "Clear"),
    );
    // Redrawing must not throw a keyboard user back to the start.
    for (const label of popover.body.querySelectorAll("label")) {
      if (label.textContent === focused) label.querySelector("input")?.focus();
    }
  }

  return {
    element: popover.element,
    update(next) {
      const before = model;
      model = next;
      const chosen = next.state.types.length + next.state.states.length + next.state.sources.length;
      popover.trigger.setAttribute("aria-label", chosen === 0 ? "Filter" : `Filter (${chosen})`);
      if (chosen === 0) delete popover.trigger.dataset.count;
      else popover.trigger.dataset.count = String(chosen);
      popover.element.hidden = next.state.view !== "map";
      if (before?.state !== next.state || before?.network !== next.network) draw();
    },
  };
}

export const NOTHING: Pick<ViewState, Choice> = { types: [], states: [], sources: [] };

function tally(values: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort(([p], [q]) => (p < q ? -1 : 1)));
}

const countTypes = (network: Network) => tally([...network.devices.values()].map((device) => device.type));

const countSources = (network: Network) =>
  tally([...network.devices.values(), ...network.links.values()].flatMap((entity) => entity.sources));

function countStates(network: Network): Map<string, number> {
  const counts = new Map<string, number>(Object.keys(STATES).map((state) => [state, 0]));
  const count = (state: keyof typeof STATES) => counts.set(state, (counts.get(state) ?? 0) + 1);
  for (const device of network.devices.values()) {
    if (!device.available) count("down");
    if (hasConflict(device)) count("conflict");
  }
  for (const cable of network.cables.values()) {
    if (!cable.active) count("inactive");
    else if (cable.oneWay) count("one-way");
    if (!cable.verified) count("unverified");
    if (cable.conflict) count("conflict");
  }
  return counts;
}
