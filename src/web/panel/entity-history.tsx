/** What happened to one thing, as far back as is remembered, newest first. */
import type { Client } from "../../client/client.ts";
import { happening, type Told } from "../change-text.ts";
import { h } from "../dom.ts";
import { momentOf, shortTime } from "../format-time.ts";
import type { NetworkChange } from "../live.ts";
import type { Network } from "../network.ts";
import type { Ref } from "../state.ts";
import type { PanelContext } from "./elements.tsx";

const MAX_SHOWN = 40;

/** Reading a long past is work for the service: a thing that never changed is not asked about. */
export async function loadHistory(
  client: Client,
  { kind, id }: Ref,
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

function item({ actions }: PanelContext, network: Network, told: Told, time: number): HTMLElement {
  const { sign, words, tone } = happening(network, told);
  return h(
    "li",
    { class: tone },
    h("span", { class: "sign", "aria-hidden": "true" }, sign),
    h("span", {}, words),
    h(
      "button",
      {
        type: "button",
        class: "when",
        title: "See the network then",
        onclick: () => actions.go({ at: momentOf(time + 999) }),
      },
      shortTime(time),
    ),
  );
}
