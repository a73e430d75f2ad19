/** A change in words, as a person on call would say it, and what to point at. */
import type { Device, Host, Link } from "../model/entity.ts";
import { cableName, deviceName, hostName, nameOfDevice } from "./names.ts";
import { cableId, type Entry, type Network } from "./network.ts";
import type { Ref } from "./state.ts";

export type Tone = "good" | "bad" | "plain";

export interface Happening {
  readonly ref: Ref;
  /** The same for both directions of a cable, which are one happening to a person. */
  readonly subject: string;
  readonly title: string;
  readonly words: string;
  readonly tone: Tone;
  readonly sign: "+" | "−" | "~";
}

export type Told = Entry & {
  readonly event: "added" | "updated" | "removed";
  readonly changed?: readonly string[];
};

const SIGNS = { added: "+", removed: "−", updated: "~" } as const;

export function happening(network: Network, told: Told): Happening {
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
      const title = cableName(network, { a: value.src, b: value.dst });
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

type Said = Pick<Happening, "words" | "tone">;
const said = (words: string, tone: Tone = "plain"): Said => ({ words, tone });

function fields(changed: readonly string[]): string {
  if (changed.length === 1 && changed[0] === "firstSeen") return "went away and came back";
  return `changed ${changed.join(", ") || "and changed back"}`;
}

function deviceWords(device: Device, event: Told["event"], changed: readonly string[]): Said {
  if (event === "added") return said("appeared", "good");
  if (event === "removed") return said("is gone", "bad");
  if (changed.includes("available"))
    return device.available ? said("came up", "good") : said("went down", "bad");
  if (changed.includes("annotations") && device.annotations.conflict)
    return said("has conflicting claims", "bad");
  return said(fields(changed));
}

function linkWords(link: Link, event: Told["event"], changed: readonly string[]): Said {
  if (event === "added")
    return link.state === "ACTIVE" ? said("link appeared", "good") : said("link appeared, inactive");
  if (event === "removed") return said("link is gone", "bad");
  if (changed.includes("state"))
    return link.state === "ACTIVE" ? said("link came up", "good") : said("link went down", "bad");
  if (changed.includes("verified"))
    return link.verified ? said("link is verified now", "good") : said("link no longer verified", "bad");
  return said(`link ${fields(changed)}`);
}

function hostWords(network: Network, host: Host, event: Told["event"], changed: readonly string[]): Said {
  const at = `${nameOfDevice(network, host.location.elementId)} port ${host.location.port}`;
  if (event === "added") return said(`seen on ${at}`);
  if (event === "removed") return said(`no longer seen on ${at}`);
  if (changed.includes("locations") || changed.includes("location")) return said(`moved to ${at}`);
  if (changed.includes("ipAddresses")) return said(`has address ${host.ipAddresses.join(", ") || "none"}`);
  return said(fields(changed));
}
