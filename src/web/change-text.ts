/** A change as a short text: the entity, what happened to it, and whether that is good or bad. */
import { cableId } from "../model/cable.ts";
import type { Device, Host, Link } from "../model/entity.ts";
import { cableName, deviceName, deviceNameById, hostName } from "./names.ts";
import type { Network, NetworkEntity } from "./network.ts";
import type { EntityRef } from "./state.ts";

export type Tone = "good" | "bad" | "plain";

export interface ChangeText {
  readonly ref: EntityRef;
  /** The same for both directions of a cable, which are shown as one change. */
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

export function describeChange(network: Network, change: EntityChange): ChangeText {
  const { event, resource, value } = change;
  const changed = change.changed ?? [];
  const common = { ref: { kind: resource, id: value.id }, sign: SIGNS[event] };
  switch (resource) {
    case "devices": {
      const title = deviceName(value);
      return { ...common, subject: value.id, title, ...describeDevice(value, event, changed) };
    }
    case "links": {
      const title = cableName(network, { from: value.src, to: value.dst });
      return { ...common, subject: cableId(value), title, ...describeLink(value, event, changed) };
    }
    case "hosts": {
      const title = hostName(value);
      return { ...common, subject: value.id, title, ...describeHost(network, value, event, changed) };
    }
  }
}

type Description = Pick<ChangeText, "text" | "tone">;
const plain = (text: string): Description => ({ text, tone: "plain" });
const good = (text: string): Description => ({ text, tone: "good" });
const bad = (text: string): Description => ({ text, tone: "bad" });

function changedFields(changed: readonly string[]): string {
  if (changed.length === 1 && changed[0] === "firstSeen") return "went away and came back";
  return `changed ${changed.join(", ") || "and changed back"}`;
}

function describeDevice(
  device: Device,
  event: EntityChange["event"],
  changed: readonly string[],
): Description {
  if (event === "added") return good("appeared");
  if (event === "removed") return bad("is gone");
  if (changed.includes("available")) return device.available ? good("came up") : bad("went down");
  if (changed.includes("annotations") && device.annotations.conflict) return bad("has conflicting claims");
  return plain(changedFields(changed));
}

function describeLink(link: Link, event: EntityChange["event"], changed: readonly string[]): Description {
  const active = link.state === "ACTIVE";
  if (event === "added") return active ? good("link appeared") : plain("link appeared, inactive");
  if (event === "removed") return bad("link is gone");
  if (changed.includes("state")) return active ? good("link came up") : bad("link went down");
  if (changed.includes("verified"))
    return link.verified ? good("link is verified now") : bad("link no longer verified");
  return plain(`link ${changedFields(changed)}`);
}

function describeHost(
  network: Network,
  host: Host,
  event: EntityChange["event"],
  changed: readonly string[],
): Description {
  const location = `${deviceNameById(network, host.location.elementId)} port ${host.location.port}`;
  if (event === "added") return plain(`seen on ${location}`);
  if (event === "removed") return plain(`no longer seen on ${location}`);
  if (changed.includes("locations") || changed.includes("location")) return plain(`moved to ${location}`);
  if (changed.includes("ipAddresses")) return plain(`has address ${host.ipAddresses.join(", ") || "none"}`);
  return plain(changedFields(changed));
}
