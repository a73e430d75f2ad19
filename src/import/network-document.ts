/**
 * The claims of an import as a document in the format of the file source, in its short form: ports stand in their device,
 * and a link whose reverse says the same is one record with `bidirectional: true`.
 */
import { sameJson } from "../lib/same-json.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { deviceKey, idKey, linkId } from "../model/ids.ts";
import type { ImportedClaims } from "./graph-claims.ts";

type PortRecord = Omit<ClaimTypes["ports"], "element">;
type DeviceRecord = ClaimTypes["devices"] & { readonly ports?: readonly PortRecord[] };
type LinkRecord = ClaimTypes["links"] & { readonly bidirectional?: true };

export interface NetworkDocument {
  readonly devices: readonly DeviceRecord[];
  /** Ports of devices that the document does not have. */
  readonly ports?: readonly ClaimTypes["ports"][];
  readonly links: readonly LinkRecord[];
  readonly hosts: readonly ClaimTypes["hosts"][];
}

export function documentOf({ devices, ports, links, hosts }: ImportedClaims): NetworkDocument {
  const portsByDevice = new Map<string, PortRecord[]>(devices.map(({ id }) => [deviceKey(id), []]));
  const others: ClaimTypes["ports"][] = [];
  for (const claim of ports) {
    const { element, ...port } = claim;
    const listed = portsByDevice.get(deviceKey(element));
    if (listed) listed.push(port);
    else others.push(claim);
  }
  return {
    devices: devices.map((device) => {
      const listed = portsByDevice.get(deviceKey(device.id)) ?? [];
      return listed.length > 0 ? { ...device, ports: listed } : device;
    }),
    ...(others.length > 0 && { ports: others }),
    links: foldDirections(links),
    hosts,
  };
}

type LinkClaim = ClaimTypes["links"];
const keyOf = ({ src, dst }: Pick<LinkClaim, "src" | "dst">): string =>
  idKey("links", linkId({ ...src, port: String(src.port) }, { ...dst, port: String(dst.port) }));

function foldDirections(links: readonly LinkClaim[]): LinkRecord[] {
  const byKey = new Map(links.map((link) => [keyOf(link), link]));
  const folded = new Set<string>();
  return links.flatMap((link): LinkRecord[] => {
    if (folded.has(keyOf(link))) return [];
    const { src, dst, ...rest } = link;
    const reverse = byKey.get(keyOf({ src: dst, dst: src }));
    if (!reverse) return [link];
    const { src: _, dst: __, ...reverseRest } = reverse;
    if (!sameJson(rest, reverseRest)) return [link];
    folded.add(keyOf(reverse));
    return [{ ...link, bidirectional: true }];
  });
}
