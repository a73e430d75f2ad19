/** A small network, what may go wrong in it, and the list of its problems: for the tests of `/topology/problems`. */
import type { ClaimChange } from "../../src/model/claim.ts";
import type { NetworkProblem } from "../../src/model/network-problem.ts";
import type { Harness } from "./harness.ts";

export const PROBLEMS = "topology/problems";
export const HOUR_MS = 3_600_000;

export interface Body {
  readonly problems: readonly NetworkProblem[];
  readonly counts: Readonly<Record<string, number>>;
  readonly next?: string;
}

export const device = (id: string, available = true): ClaimChange => ({
  op: "set",
  kind: "devices",
  claim: { id, available },
});
export const link = (a: string, b: string, state: "ACTIVE" | "INACTIVE" = "ACTIVE"): ClaimChange[] =>
  [
    [a, b],
    [b, a],
  ].map(([from = "", to = ""]) => {
    const [src, dst] = [
      { device: from, port: portTo(to) },
      { device: to, port: portTo(from) },
    ];
    return { op: "set", kind: "links", claim: { src, dst, state } };
  });
export const portTo = (id: string): string => String(id.charCodeAt(4));
export const linkOf = (from: string, to: string): string => `${from}/${portTo(to)}-${to}/${portTo(from)}`;
export const noLink = (a: string, b: string): ClaimChange[] =>
  [
    [a, b],
    [b, a],
  ].map(([from = "", to = ""]) => ({ op: "remove", kind: "links", id: linkOf(from, to) }));
export const host = (n: number, at: string, port = "1", ip?: string): ClaimChange => {
  const mac = `00:00:00:00:00:0${n}`;
  const claim = { mac, vlan: "None", locations: [{ elementId: at, port }], ...(ip && { ipAddresses: [ip] }) };
  return { op: "set", kind: "hosts", claim };
};

export const [A, B, C] = ["dev:a", "dev:b", "dev:c"] as const;
/** A tree, a in the middle: two hosts at a, one at b and at c. */
export const TREE: readonly ClaimChange[] = [
  ...[A, B, C].map((id) => device(id)),
  ...link(A, B),
  ...link(A, C),
  host(1, A),
  host(2, A, "2"),
  host(3, B),
  host(4, C),
];

export const read = (harness: Harness, query = ""): Promise<Body> =>
  harness.json<Body>(`${PROBLEMS}${query}`);
export const summary = ({ problems }: Body): string[] =>
  problems.map(({ id, severity, cutOff }) => `${severity} ${id} -${cutOff.deviceCount}/${cutOff.hostCount}`);
export const timeNow = (harness: Harness): string => new Date(harness.clock.now()).toISOString();

/** The clock of the machine is set forwards: it is read again within a minute. */
export async function letPass({ clock }: Harness, ms: number): Promise<void> {
  clock.setBy(ms);
  await clock.advance(60_000);
}
