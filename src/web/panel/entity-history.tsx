/** What happened to one thing, as far back as is remembered, newest first. */
import type { Client } from "../../client/client.ts";
import { describeChange, type EntityChange } from "../change-text.ts";
import { h } from "../dom.ts";
import { formatShortTime, toTimestamp } from "../format-time.ts";
import type { NetworkChange } from "../live.ts";
import type { Network } from "../network.ts";
import type { EntityRef } from "../state.ts";
import type { PanelContext } from "./elements.tsx";

const MAX_SHOWN = 40;

/** Reading a long past is work for the service: a thing that never changed is not asked about. */
export async function loadHistory(
  client: Client,
  { kind, id }: EntityRef,
  tracked: { readonly firstSeen: string; readonly lastChanged: string },
  signal: AbortSignal,
): Promise<NetworkChange[]> {
  if (tracked.firstSeen === tracked.lastChanged) return [];
  const { oldest } = await client.timeline(1, {}, { signal });
  const { changes } = await client.changes(kind, oldest.revision, { id }, { signal });
  return changes.reverse();
}

export function historyList(
  context: PanelContext,
  network: Network,
  changes: readonly NetworkChange[],
): HTMLElement {
  if (changes.length === 0)
    return h("p", { class: "muted" }, "Nothing has happened to it since it was first seen.");
  return h(
    "ol",
    { class: "history" },
    changes.slice(0, MAX_SHOWN).map((change) => item(context, network, change, change.time)),
  );
}

function item({ actions }: PanelContext, network: Network, told: EntityChange, time: number): HTMLElement {
  const { sign, text, tone } = describeChange(network, told);
  return h(
    "li",
    { class: tone },
    h("span", { class: "sign", "aria-hidden": "true" }, sign),
    h("span", {}, text),
    h(
      "button",
      {
        type: "button",
        class: "when",
        title: "See the network then",
        onclick: () => actions.go({ at: toTimestamp(time + 999) }),
      },
      formatShortTime(time),
    ),
  );
}
