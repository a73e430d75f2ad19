/** A change in words, as a person on call would say it, and what to point at. */

import { cableId } from "../model/cable.ts";
import type { Device, Host, Link } from "../model/entity.ts";
import { cableName, deviceName, deviceNameById, hostName } from "./names.ts";
import type { Network, NetworkEntity } from "./network.ts";
import type { EntityRef } from "./state.ts";

export type Tone = "good" | "bad" | "plain";

export interface ChangeText {
  readonly ref: EntityRef;
  /** The same for both directions of a cable, which are one happening to a person. */
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly tone: Tone;
  readonly sign: "+" | "−" | "~";
}

export type EntityChange = NetworkEntity & {
  readonly event: "added" | "updated" | "removed";
  readonly changed?: readonly string[];
};

const SIGNS = { added: "+", removed: "−", updated: "~" } as const;

export function describeChange(network: Network, told: EntityChange): ChangeText {
  const { event, resource, value } = told;
  const changed = told.changed ?? [];
  const common = { ref: { kind: resource, id: value.id }, sign: SIGNS[event] };
  switch (resource) {
    case "devices":
      return {
        ...common,
        subject: value.id,
        title: deviceName(value),
        ...deviceWords(value, event, changed),
      };
    case "links": {
      const title = cableName(network, { from: value.src, to: value.dst });
      return { ...common, subject: cableId(value), title, ...linkWords(value, event, changed) };
    }
    case "hosts":
      return {
        ...common,
        subject: value.id,
        title: hostName(value),
        ...hostWords(network, value, event, changed),
      };
  }
}

type Said = Pick<ChangeText, "text" | "tone">;
const said = (words: string, tone: Tone = "plain"): Said => ({ text: words, tone });

function fields(changed: readonly string[]): string {
  if (changed.length === 1 && changed[0] === "firstSeen") return "went away and came back";
  return `changed ${changed.join(", ") || "and changed back"}`;
}

function deviceWords(device: Device, event: EntityChange["event"], changed: readonly string[]): Said {
  if (event === "added") return said("appeared", "good");
  if (event === "removed") return said("is gone", "bad");
  if (changed.includes("available"))
    return device.available ? said("came up", "good") : said("went down", "bad");
  if (changed.includes("annotations") && device.annotations.conflict)
    return said("has conflicting claims", "bad");
  return said(fields(changed));
}

function linkWords(link: Link, event: EntityChange["event"], changed: readonly string[]): Said {
  if (event === "added")
    return link.state === "ACTIVE" ? said("link appeared", "good") : said("link appeared, inactive");
  if (event === "removed") return said("link is gone", "bad");
  if (changed.includes("state"))
    return link.state === "ACTIVE" ? said("link came up", "good") : said("link went down", "bad");
  if (changed.includes("verified"))
    return link.verified ? said("link is verified now", "good") : said("link no longer verified", "bad");
  return said(`link ${fields(changed)}`);
}

function hostWords(
  network: Network,
  host: Host,
  event: EntityChange["event"],
  changed: readonly string[],
): Said {
  const at = `${deviceNameById(network, host.location.elementId)} port ${host.location.port}`;
  if (event === "added") return said(`seen on ${at}`);
  if (event === "removed") return said(`no longer seen on ${at}`);
  if (changed.includes("locations") || changed.includes("location")) return said(`moved to ${at}`);
  if (changed.includes("ipAddresses")) return said(`has address ${host.ipAddresses.join(", ") || "none"}`);
  return said(fields(changed));
}
