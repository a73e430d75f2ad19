/** The lists beside the map: what changed lately, what differs between two moments, and the steps of a way. */

import { type ChangeText, describeChange } from "../change-text.ts";
import { h } from "../dom.ts";
import { formatShortTime, toTimestamp } from "../format-time.ts";
import type { Comparison } from "../history.ts";
import type { NetworkChange } from "../live.ts";
import { deviceNameById, formatCount } from "../names.ts";
import type { Network } from "../network.ts";
import { shortestPath } from "../path.ts";
import type { Model } from "../store.ts";
import { type PanelContext, thing } from "./elements.tsx";

const MAX_SHOWN = 200;

/** Both directions of a cable in one revision are one line. */
export function recentList(
  context: PanelContext,
  network: Network,
  recent: readonly NetworkChange[],
): HTMLElement {
  if (recent.length === 0)
    return h("p", { class: "muted" }, "Nothing has changed since this page was opened.");
  const seen = new Set<string>();
  const items: HTMLElement[] = [];
  for (const change of recent) {
    const told = describeChange(network, change);
    const key = `${change.revision} ${told.subject} ${told.text}`;
    if (seen.has(key)) continue;
    seen.add(key);
    items.push(line(context, told, `${change.revision} ${told.subject}`, change.time));
    if (items.length >= MAX_SHOWN) break;
  }
  return h("ol", { class: "history changes" }, items);
}

function line(context: PanelContext, told: ChangeText, key: string, time: number | undefined): HTMLElement {
  const { actions } = context;
  const when =
    time !== undefined &&
    h(
      "button",
      {
        type: "button",
        class: "when",
        title: "See the network then",
        onclick: () => actions.go({ at: toTimestamp(time + 999) }),
      },
      formatShortTime(time),
    );
  return h(
    "li",
    { class: told.tone, "data-key": key },
    h("span", { class: "sign", "aria-hidden": "true" }, told.sign),
    h("span", {}, thing(context, told.ref, told.title), ` ${told.text}`),
    when,
  );
}

export function comparisonList(context: PanelContext, { network, differences }: Comparison): HTMLElement {
  if (differences.length === 0)
    return h("p", { class: "muted" }, "Nothing differs between these two moments.");
  const seen = new Set<string>();
  const items = differences.flatMap((change) => {
    const told = describeChange(network, change);
    const key = `${told.subject} ${told.text}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [line(context, told, key, undefined)];
  });
  const count = (event: string) => differences.filter((change) => change.event === event).length;
  const summary = `${count("added")} added, ${count("removed")} removed, ${count("updated")} changed`;
  const rest = items.length - MAX_SHOWN;
  return h(
    "div",
    {},
    h("p", {}, summary),
    h("ol", { class: "history" }, items.slice(0, MAX_SHOWN)),
    rest > 0 && h("p", { class: "muted" }, `and ${formatCount(rest, "other")}`),
  );
}

export function wayList(
  context: PanelContext,
  network: Network,
  path: NonNullable<Model["state"]["path"]>,
): HTMLElement {
  const way = shortestPath(network, path[0], path[1]);
  if (!way && !network.hostsLoaded && path.some(({ kind }) => kind === "hosts"))
    return h("p", { class: "muted" }, "Loading…");
  if (!way)
    return h(
      "p",
      { class: "note bad" },
      "There is no way between them over devices that are up and links that are active.",
    );
  const steps = way.devices.map((device, i) => {
    const cable = network.cables.get(way.cables[i] ?? "");
    const out = cable && (cable.from.device === device ? cable.from : cable.to);
    const into = cable && (cable.from.device === device ? cable.to : cable.from);
    return h(
      "li",
      {},
      thing(context, { kind: "devices", id: device }, deviceNameById(network, device)),
      out && into && h("div", { class: "hop" }, `out of port ${out.port}, into port ${into.port}`),
    );
  });
  return h("div", {}, h("p", {}, formatCount(way.cables.length, "hop")), h("ol", { class: "way" }, steps));
}
