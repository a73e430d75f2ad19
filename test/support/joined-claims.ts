/**
 * Random claims of several sources about the same few devices, for tests of joined devices: with overlaps, conflicts and
 * copied values, in random order and random pieces.
 */
import fc from "fast-check";
import { type ClaimChange, canonicalClaim } from "../../src/model/claim.ts";
import { deviceKey, type Kind } from "../../src/model/ids.ts";
import type { ClaimedNetwork } from "./claims.ts";

const COMPARED_EVERY = 10;

export type Sourced = { readonly source: string; readonly change: ClaimChange };

const IDS = ["of:1", "of:2", "Leaf", "lldp:a", "LLDP:A", "snmp:x", "k"];
/** The ids that a source mostly uses: with those of the others alone, few devices would be joined. */
const OWN_IDS: Readonly<Record<string, readonly string[]>> = {
  first: ["of:1", "of:2"],
  second: ["Leaf", "lldp:a"],
  third: ["snmp:x", "k"],
  plan: ["of:1", "plan:a", "plan:b"],
  draft: ["plan:b", "draft:a"],
};
const optional = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const port = fc.constantFrom("1", "2", "3", "local");

/** Few values, so that devices are joined, copied and separated. */
function claimsOf(source: string): readonly fc.Arbitrary<ClaimChange>[] {
  const own = OWN_IDS[source] ?? IDS;
  const device = fc.constantFrom(...own, ...own, ...own, ...own, ...IDS);
  const point = fc.record({ device, port });
  const records: Readonly<Record<Kind, fc.Arbitrary<object>>> = {
    devices: fc
      .record({ id: device, chassisId: optional("aa:bb:cc:dd:ee:01", "AABBCCDDEE01", "2", "0"), serial: optional("S1", "s1", "S2", "unknown"), name: optional("core", "edge"), mfr: optional("m", "n"), aliases: optional(["other"], ["other", "another"], ["lldp:a", "other"], ["of:1", "k"]) })
      .map(({ name, ...rest }) => ({ ...rest, ...(name && { annotations: { name } }) })),
    ports: fc
      .record({ element: device, port, mac: optional("00:00:00:00:00:01", "00:00:00:00:00:02"), portName: optional("eth1", "Eth1", "eth2", "eth3"), isEnabled: optional(true, false) })
      .map(({ mac, portName, ...rest }) => ({ ...rest, annotations: { ...(mac && { mac }), ...(portName && { portName }) } })),
    links: fc
      .record({ src: point, dst: point, type: optional("DIRECT", "TUNNEL") })
      .filter(({ src, dst }) => deviceKey(src.device) !== deviceKey(dst.device) || src.port !== dst.port),
    hosts: fc.record({
      mac: fc.constantFrom("00:00:00:00:01:01", "00:00:00:00:01:02"),
      ipAddresses: fc.subarray(["10.0.0.1", "10.0.0.2"]),
      locations: fc.array(point.map(({ device: elementId, port }) => ({ elementId, port })), { minLength: 1, maxLength: 2 }),
    }),
  }; // biome-ignore format: a table
  return ["devices", "ports", "ports", "ports", "links", "hosts"].map((kind) =>
    // Without the fields that are undefined.
    (records[kind as Kind] as fc.Arbitrary<object>).map(
      (claim) => ({ op: "set", kind, claim: JSON.parse(JSON.stringify(claim)) }) as ClaimChange,
    ),
  );
}

/** A claim of one of the sources. */
export const claimOfAny = (...names: string[]): fc.Arbitrary<Sourced> =>
  fc.oneof(...names.map((source) => fc.oneof(...claimsOf(source)).map((change) => ({ source, change }))));

/** The source and the id that it claims. */
export function keyOf({ source, change }: Sourced): string {
  const id = idOf(change);
  return `${source} ${change.kind} ${change.kind === "hosts" ? id : id.toLowerCase()}`;
}

function idOf(change: ClaimChange): string {
  if (change.op === "remove") return change.id;
  const result = canonicalClaim(change.kind, change.claim);
  if (!result.ok) throw new Error(`the test generates invalid claims: ${JSON.stringify(result.fault)}`);
  return result.id;
}

export const deviceOf = (source: string, id: string, serial: string): Sourced => ({
  source,
  change: { op: "set", kind: "devices", claim: { id, serial } },
});

/** `claims` and, of `others`, those about something else. */
export function withOthers(claims: readonly Sourced[], others: readonly Sourced[]): Sourced[] {
  const keys = new Set(claims.map(keyOf));
  return [...claims, ...others.filter((each) => !keys.has(keyOf(each)))];
}

/** Withdraws what is claimed earlier and not in the end. */
export function withdrawals(earlier: readonly Sourced[], final: readonly Sourced[]): Sourced[] {
  const kept = new Set(final.map(keyOf));
  const withdrawn = new Map(
    earlier.filter((each) => !kept.has(keyOf(each))).map((each) => [keyOf(each), each]),
  );
  return [...withdrawn.values()].map(({ source, change }): Sourced => {
    return { source, change: { op: "remove", kind: change.kind, id: idOf(change) } };
  });
}

/** What is claimed after the changes. */
export function claimedAfter(changes: Iterable<Sourced>): Sourced[] {
  const claimed = new Map<string, Sourced>();
  for (const each of changes) {
    if (each.change.op === "set") claimed.set(keyOf(each), each);
    else claimed.delete(keyOf(each));
  }
  return [...claimed.values()];
}

/** Changes in the order of the stream, in pieces of one source. */
export function shuffled(changes: readonly Sourced[], order: Iterator<number>): Sourced[][] {
  const next = () => order.next().value ?? 0;
  const sorted = changes.map((change) => ({ change, at: next() })).sort((a, b) => a.at - b.at);
  const pieces: Sourced[][] = [];
  for (const { change } of sorted) {
    const last = pieces.at(-1);
    if (last?.[0]?.source === change.source && next() % 2 === 0) last.push(change);
    else pieces.push([change]);
  }
  return pieces;
}

/** Whether the view is compared after a piece: a few times on the way, and at the end. */
export const isCompared = (piece: number, pieces: number): boolean =>
  piece === pieces - 1 || piece % COMPARED_EVERY === COMPARED_EVERY - 1;

export async function applyPiece(net: ClaimedNetwork, piece: readonly Sourced[]): Promise<void> {
  await net.source(piece[0]?.source ?? "").apply(piece.map(({ change }) => change));
  await net.clock.advance(1000);
}

/** Each source reports its claims at once, one source after the other. */
export async function reportAll(net: ClaimedNetwork, claims: readonly Sourced[]): Promise<void> {
  for (const name of new Set(claims.map(({ source }) => source)))
    await net.source(name).apply(claims.filter(({ source }) => source === name).map(({ change }) => change));
}
