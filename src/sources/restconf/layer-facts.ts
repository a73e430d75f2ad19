/**
 * What the augmentations for Layer 2 (RFC 8944) and Layer 3 (RFC 8346) say about nodes, termination points and links,
 * as fields of claims. Where a device has both, those of the upper layer come first (`map-topology.ts`).
 */
import { canonicalMac } from "../../model/address.ts";
import type { DeviceFacts, LinkFacts, PortFacts } from "./topology-records.ts";
import { container, leafNumber, leafText, leafTexts, member, type YangObject } from "./yang-json.ts";

const L2 = "ietf-l2-topology";
const L3 = "ietf-l3-unicast-topology";

type Annotations = Record<string, string>;

/** Without the keys that have no value. */
export function annotationsOf(values: Readonly<Record<string, string | undefined>>): {
  annotations?: Annotations;
} {
  const annotations: Annotations = {};
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") annotations[key] = value;
  }
  return Object.keys(annotations).length > 0 ? { annotations } : {};
}

/** Most records of most servers have no augmentation: nothing is searched in them. */
const hasEither = (object: YangObject, attributes: string): boolean =>
  member(object, `${L2}:l2-${attributes}`) !== undefined ||
  member(object, `${L3}:l3-${attributes}`) !== undefined;

export function readNodeFacts(node: YangObject): DeviceFacts {
  if (!hasEither(node, "node-attributes")) return {};
  const l2 = container(node, `${L2}:l2-node-attributes`);
  const l3 = container(node, `${L3}:l3-node-attributes`);
  const isRouter = member(node, `${L3}:l3-node-attributes`) !== undefined;
  const isBridge = member(node, `${L2}:l2-node-attributes`) !== undefined;
  return {
    ...(isRouter ? { type: "ROUTER" } : isBridge ? { type: "SWITCH" } : {}),
    ...annotationsOf({
      name: leafText(l3, "name") ?? leafText(l2, "name"),
      managementAddress: leafTexts(l2, "management-address")[0],
      managementMac: macText(l2, "management-mac"),
      routerId: leafTexts(l3, "router-id").join(" "),
    }),
  };
}

export function readPointFacts(point: YangObject): PortFacts {
  if (!hasEither(point, "termination-point-attributes")) return {};
  const l2 = container(point, `${L2}:l2-termination-point-attributes`);
  const l3 = container(point, `${L3}:l3-termination-point-attributes`);
  return annotationsOf({
    portName: leafText(l2, "interface-name") ?? leafText(l3, "interface-name"),
    portMac: macText(l2, "mac-address"),
    ipAddresses: leafTexts(l3, "ip-address").join(" "),
    aggregateOf: leafTexts(l2, "member-link-tp").join(" "),
  });
}

/** A port has one number on its bridge; a list of several is that of no one port. */
export function readPointNumber(point: YangObject): { number?: number } {
  const [number, ...others] = leafTexts(
    container(point, `${L2}:l2-termination-point-attributes`),
    "port-number",
  );
  return number !== undefined && others.length === 0 && /^\d{1,10}$/.test(number)
    ? { number: Number(number) }
    : {};
}

export function readLinkFacts(link: YangObject): LinkFacts {
  if (!hasEither(link, "link-attributes")) return {};
  const l2 = container(link, `${L2}:l2-link-attributes`);
  const l3 = container(link, `${L3}:l3-link-attributes`);
  const kbps = leafNumber(l2, "rate");
  const delayMicroseconds = leafNumber(l2, "delay");
  return annotationsOf({
    name: leafText(l3, "name") ?? leafText(l2, "name"),
    bandwidthMbps: kbps === undefined ? undefined : String(kbps / 1000),
    latencyMs: delayMicroseconds === undefined ? undefined : String(delayMicroseconds / 1000),
    metric: leafText(l3, "metric1"),
  });
}

const macText = (object: YangObject, name: string): string | undefined =>
  canonicalMac(leafText(object, name) ?? "");
