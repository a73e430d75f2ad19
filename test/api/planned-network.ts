/**
 * Networks with an intended side, written to the log as the view would write them: entities with `drift`, and entities
 * that are missing. For tests of what the interface makes of them, whatever decides what differs.
 */
import type { LogEntry, StoreKind } from "../../src/log/log.ts";
import type { DriftState, Entities } from "../../src/model/entity.ts";
import { entityId } from "../../src/model/entity.ts";
import { deviceKey, type Kind } from "../../src/model/ids.ts";
import { missingKey } from "../../src/view/indexes.ts";
import type { Harness } from "./harness.ts";

/** `planned`: as intended, so without drift. */
export type Side = DriftState | "planned";
export type Planned = {
  [K in Kind]: { readonly kind: K; readonly value: Omit<Entities[K], "revision"> };
}[Kind];

const SINCE = "2026-11-15T00:00:00.000Z";

const tracking = (side: Side) => ({
  firstSeen: SINCE,
  lastChanged: SINCE,
  sources: side === "missing" ? [] : ["first"],
  ...(side !== "planned" && {
    drift: {
      state: side,
      since: SINCE,
      ...(side === "differs" && { fields: { hw: { intended: "H2", observed: "H1" } } }),
    },
  }),
});

export const plannedDevice = (id: string, side: Side, more: Partial<Entities["devices"]> = {}): Planned => ({
  kind: "devices",
  value: {
    id,
    type: "SWITCH",
    available: true,
    role: "NONE",
    mfr: "unknown",
    hw: "H1",
    sw: "unknown",
    serial: "unknown",
    driver: "default",
    chassisId: "0",
    lastUpdate: "1",
    humanReadableLastUpdate: `connected since ${SINCE}`,
    annotations: { managementAddress: "", channelId: "", protocol: "" },
    ...more,
    ...tracking(side),
  },
});

export const plannedPort = (element: string, port: string, side: Side): Planned => ({
  kind: "ports",
  value: { element, port, isEnabled: true, type: "copper", portSpeed: 1000, ...tracking(side) },
});

export const plannedLink = (src: string, dst: string, side: Side): Planned => ({
  kind: "links",
  value: {
    src: { port: "1", device: src },
    dst: { port: "2", device: dst },
    type: "DIRECT",
    state: "ACTIVE",
    id: `${src}/1-${dst}/2`,
    bidirectional: false,
    verified: true,
    ...tracking(side),
  },
});

export const plannedHost = (mac: string, elementId: string, side: Side): Planned => ({
  kind: "hosts",
  value: {
    id: `${mac}/None`,
    mac,
    vlan: "None",
    innerVlan: "None",
    outerTpid: "0x0000",
    configured: false,
    suspended: false,
    ipAddresses: ["10.0.0.1"],
    locations: [{ elementId, port: "1" }],
    location: { elementId, port: "1" },
    ...tracking(side),
  },
});

const placeOf = ({ kind, value }: Planned): [StoreKind, string] => {
  const id = entityId({ ...value, revision: 0 } as Entities[Kind]);
  return value.drift?.state === "missing" ? ["missing", missingKey(kind, id)] : [kind, id];
};

/**
 * Replaces entities in one revision: those of `before` are gone unless they are in `after`. What is no longer missing
 * comes first and what is missing now comes last, as the view writes it.
 */
export async function commitPlanned(
  harness: Harness,
  after: readonly Planned[],
  before: readonly Planned[] = [],
): Promise<void> {
  const { view } = harness;
  const revision = view.revision + 1;
  const writes = new Map<string, LogEntry>();
  const set = (planned: Planned, json: string | null) => {
    const [kind, id] = placeOf(planned);
    const old = view.get(kind, id) ?? null;
    const changed = old !== null && json !== null ? ["drift"] : [];
    writes.set(`${kind} ${deviceKey(id)}`, { kind, id, before: old, after: json, changed });
  };
  for (const planned of before) set(planned, null);
  for (const planned of after) set(planned, JSON.stringify({ ...planned.value, revision }));
  const rank = ({ kind, after }: LogEntry) => (kind !== "missing" ? 1 : after === null ? 0 : 2);
  const entries = [...writes.values()].filter((entry) => entry.before !== entry.after);
  if (entries.length > 0) await harness.write(entries.sort((a, b) => rank(a) - rank(b)));
}

export interface Entity {
  readonly id: string;
  readonly element?: string;
  readonly port?: string;
  readonly drift?: { readonly state: string };
}
export const idOf = ({ id, element, port }: Entity): string =>
  element === undefined ? id : `${element}/${port}`;

export const KINDS = ["devices", "ports", "links", "hosts"] as const;
export type TestKind = (typeof KINDS)[number];
export const PATHS: Readonly<Record<TestKind, string>> = {
  devices: "devices",
  ports: "devices/ports",
  links: "links",
  hosts: "hosts",
};

export const listOf = async (harness: Harness, kind: TestKind, query = ""): Promise<Entity[]> =>
  (await harness.json<Record<string, Entity[]>>(`${PATHS[kind]}${query}`))[kind] ?? [];
