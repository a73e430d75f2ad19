/** A change as a short text: the entity, what happened to it, and whether that is good or bad. */
import { cableId } from "../../model/cable.ts";
import type { Device, Host, Link, Port } from "../../model/entity.ts";
import { cableName, deviceName, deviceNameById, hostName } from "./entity-names.ts";
import type { Network, NetworkEntity } from "./loaded-network.ts";
import type { EntityRef } from "./view-state.ts";

export type Tone = "good" | "bad" | "plain";

export interface ChangeText {
  /** Where the change leads: the entity; of a port its device. */
  readonly ref: EntityRef;
  /** The devices that it concerns: one, of a link both, of a device none. */
  readonly places: readonly string[];
  /** The same for both directions of a cable, which are shown as one change. */
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  /** The text for several entities that changed alike. */
  readonly many: string;
  readonly tone: Tone;
  readonly sign: "+" | "−" | "~";
}

interface ChangeFields {
  readonly event: "added" | "updated" | "removed";
  readonly changed?: readonly string[];
}
export type EntityChange = NetworkEntity & ChangeFields;
/** The page's network has no ports; their changes are only shown. */
export type PortChange = { readonly resource: "ports"; readonly value: Port } & ChangeFields;

const SIGNS = { added: "+", removed: "−", updated: "~" } as const;

export function describeChange(network: Network, change: EntityChange | PortChange): ChangeText {
  const { event, resource, value } = change;
  const changed = change.changed ?? [];
  const sign = SIGNS[event];
  const ref = (id: string): Pick<ChangeText, "ref" | "sign" | "subject"> => ({
    ref: { kind: resource === "ports" ? "devices" : resource, id },
    sign,
    subject: id,
  });
  switch (resource) {
    case "devices": {
      const title = deviceName(value);
      return { ...ref(value.id), places: [], title, ...describeDevice(value, event, changed) };
    }
    case "links": {
      const title = cableName(network, { from: value.src, to: value.dst });
      const places = [value.src.device, value.dst.device];
      const text = describeLink(value, event, changed);
      return { ...ref(value.id), subject: cableId(value), places, title, ...text };
    }
    case "hosts": {
      const title = hostName(value);
      const places = [value.location.elementId];
      return { ...ref(value.id), places, title, ...describeHost(network, value, event, changed) };
    }
    case "ports": {
      const { element, port } = value;
      const title = `${deviceNameById(network, element)} port ${port}`;
      const subject = `${element}/${port}`;
      return { ...ref(element), subject, places: [element], title, ...describePort(value, event, changed) };
    }
  }
}

type Description = Pick<ChangeText, "text" | "many" | "tone">;
const plain = (text: string, many = text): Description => ({ text, many, tone: "plain" });
const good = (text: string, many = text): Description => ({ text, many, tone: "good" });
const bad = (text: string, many = text): Description => ({ text, many, tone: "bad" });

/** When the availability of a device last changed. Alone, it has changed back. */
const AVAILABILITY_TIMES = ["lastUpdate", "humanReadableLastUpdate"];

function changedFields(changed: readonly string[]): string {
  if (changed.length > 0 && changed.every((field) => AVAILABILITY_TIMES.includes(field)))
    return "went down and came back";
  if (changed.length === 1 && changed[0] === "firstSeen") return "went away and came back";
  return `changed ${changed.join(", ") || "and changed back"}`;
}

function describeDevice(
  device: Device,
  event: EntityChange["event"],
  changed: readonly string[],
): Description {
  if (event === "added") return good("appeared");
  if (event === "removed") return bad("is gone", "are gone");
  if (changed.includes("available")) return device.available ? good("came up") : bad("went down");
  if (changed.includes("annotations") && device.annotations.conflict)
    return bad("has conflicting claims", "have conflicting claims");
  return plain(changedFields(changed));
}

function describePort(port: Port, event: EntityChange["event"], changed: readonly string[]): Description {
  if (event === "added") return plain("appeared");
  if (event === "removed") return plain("is gone", "are gone");
  if (changed.includes("isEnabled")) return port.isEnabled ? good("came up") : bad("went down");
  return plain(changedFields(changed));
}

function describeLink(link: Link, event: EntityChange["event"], changed: readonly string[]): Description {
  const active = link.state === "ACTIVE";
  if (event === "added")
    return active
      ? good("link appeared", "appeared")
      : plain("link appeared, inactive", "appeared, inactive");
  if (event === "removed") return bad("link is gone", "are gone");
  if (changed.includes("state"))
    return active ? good("link came up", "came up") : bad("link went down", "went down");
  if (changed.includes("verified"))
    return link.verified
      ? good("link is verified now", "are verified now")
      : bad("link no longer verified", "are no longer verified");
  return plain(`link ${changedFields(changed)}`, changedFields(changed));
}

function describeHost(
  network: Network,
  host: Host,
  event: EntityChange["event"],
  changed: readonly string[],
): Description {
  const location = `${deviceNameById(network, host.location.elementId)} port ${host.location.port}`;
  if (event === "added") return plain(`seen on ${location}`, "were seen");
  if (event === "removed") return plain(`no longer seen on ${location}`, "are no longer seen");
  if (changed.includes("locations") || changed.includes("location"))
    return plain(`moved to ${location}`, "moved there");
  if (changed.includes("ipAddresses"))
    return plain(`has address ${host.ipAddresses.join(", ") || "none"}`, "have other addresses");
  return plain(changedFields(changed));
}
