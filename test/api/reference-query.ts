/**
 * The reference model of queries: filters as plain predicates on parsed JSON. Tests compare the indexes and scans of the
 * service with it, so it shares no code with the service. It also generates random queries.
 */
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { deviceId, HOSTILE } from "./network.ts";

export type JsonEntity = Readonly<Record<string, unknown>>;
export type ListName = "devices" | "ports" | "links" | "hosts";

export interface ReferenceFilter {
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly matches: (entity: JsonEntity) => boolean;
}

/** A field equals one of the values. `spelled` is how the parameter writes them. */
const equals = (name: string, values: readonly string[], spelled = values): ReferenceFilter => ({
  parameters: [[name, spelled.map(escapeCommas).join(",")]],
  matches: (entity) => values.includes(String(entity[name] ?? "")),
});
const escapeCommas = (value: string): string => value.replaceAll(",", "\\,");

const oneOrTwoOf = <T>(...values: T[]) =>
  fc.subarray(values, { minLength: 1, maxLength: Math.min(2, values.length) });
const device = fc.integer({ min: 1, max: 9 }).map(deviceId);
/** Ids match in any case. */
const upperCase = (id: string): string => id.toUpperCase();
const devices = fc.uniqueArray(device, { minLength: 1, maxLength: 2 });
const ports = oneOrTwoOf("1", "2", "local", "77");
const TEXTS = ["core", "\u212aelvin \u0130", "Edge", "a,b", "ünïcode", HOSTILE, "=cmd", "nowhere"];

const annotation = fc.tuple(fc.constantFrom("name", "site", "constructor", "a.b"), oneOrTwoOf(...TEXTS, ""));
const COMMON_FILTERS: fc.Arbitrary<ReferenceFilter>[] = [
  annotation.map(([key, values]) => ({
    parameters: [[`annotations.${key}`, values.map(escapeCommas).join(",")]],
    matches: ({ annotations }) =>
      values.includes(Object.entries(annotations ?? {}).find(([k]) => k === key)?.[1] ?? ""),
  })),
  oneOrTwoOf("first", "second", "third").map((names) => ({
    parameters: [["source", names.join(",")]],
    matches: ({ sources }) => Array.isArray(sources) && sources.some((name) => names.includes(name)),
  })),
  fc.boolean().map((wanted) => ({
    parameters: [["conflict", String(wanted)]],
    matches: ({ annotations }) => Object.hasOwn(annotations ?? {}, "conflict") === wanted,
  })),
  fc
    .constantFrom("of:", "EDGE", "ÜNÏ", '"<b>', "10.0.", "🦊", "\n", "000009", "\\", "zzz", "k", "i", "KEL")
    .map((q) => ({
      parameters: [["q", q]],
      matches: (entity) => stringsIn(entity).some((text) => text.toLowerCase().includes(q.toLowerCase())),
    })),
  fc.integer({ min: 1, max: 6 }).map((n) => equals("revision", [String(n)])),
];

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsIn) : [];
}

/** Link ends and host locations name their device differently. */
const devicePortOf = (end: unknown): [device: unknown, port: unknown] => {
  const { device: id, elementId, port } = Object(end);
  return [id ?? elementId, port];
};
const isAt = (end: unknown, ids: readonly string[], numbers?: readonly string[]): boolean => {
  const [id, port] = devicePortOf(end);
  return ids.includes(String(id)) && (numbers === undefined || numbers.includes(String(port)));
};

const DEVICE_FILTERS: fc.Arbitrary<ReferenceFilter>[] = [
  ...COMMON_FILTERS,
  oneOrTwoOf("SWITCH", "ROUTER", "OTHER", "SERVER").map((types) => equals("type", types)),
  oneOrTwoOf("ROUTER").map((types) => equals("type", types, ["router"])),
  oneOrTwoOf("true", "false").map((values) => equals("available", values)),
  oneOrTwoOf("MASTER", "NONE").map((values) => equals("role", values)),
  oneOrTwoOf(...TEXTS, "unknown").map((values) => equals("mfr", values)),
  oneOrTwoOf("1.0", "1.1", "unknown").map((values) => equals("sw", values)),
  devices.map((ids) => equals("id", ids)),
  devices.map((ids) => equals("id", ids, ids.map(upperCase))),
];

const PORT_FILTERS: fc.Arbitrary<ReferenceFilter>[] = [
  ...COMMON_FILTERS,
  devices.map((ids) => equals("element", ids, ids.map(upperCase))),
  ports.map((numbers) => equals("port", numbers)),
  oneOrTwoOf("true", "false").map((values) => equals("isEnabled", values)),
  oneOrTwoOf("10", "1000", "2.5").map((values) => equals("portSpeed", values)),
];

const direction = fc.constantFrom("ingress", "egress", "all", undefined);
const ENDS = { ingress: ["dst"], egress: ["src"], all: ["src", "dst"] } as const;
const LINK_FILTERS: fc.Arbitrary<ReferenceFilter>[] = [
  ...COMMON_FILTERS,
  oneOrTwoOf("ACTIVE", "INACTIVE").map((values) => equals("state", values)),
  oneOrTwoOf("DIRECT", "TUNNEL").map((values) => equals("type", values)),
  oneOrTwoOf("true", "false").map((values) => equals("bidirectional", values)),
  fc.tuple(fc.constantFrom("src", "dst"), devices).map(([end, ids]) => ({
    parameters: [[end, ids.map(upperCase).join(",")]],
    matches: (entity) => isAt(entity[end], ids),
  })),
  fc.tuple(devices, fc.option(ports, { nil: undefined }), direction).map(([ids, numbers, given]) => ({
    parameters: [
      ["device", ids.join(",")],
      ...(numbers ? [["port", numbers.join(",")] as const] : []),
      ...(given ? [["direction", given.toUpperCase()] as const] : []),
    ],
    matches: (entity) => ENDS[given ?? "all"].some((end) => isAt(entity[end], ids, numbers)),
  })),
];

const blocks = oneOrTwoOf(
  "10.0.0.0/24",
  "10.0.1.3",
  "10.0.0.0/8",
  "2001:db8::/32",
  "2001:0DB8::0003",
  "0.0.0.0/0",
  "::/0",
  "10.0.2.5/31",
);
const isInBlock = (text: string, block: string): boolean => {
  const address = ipaddr.parse(text);
  const [network, bits] = block.includes("/")
    ? ipaddr.parseCIDR(block)
    : ([ipaddr.parse(block), ipaddr.parse(block).kind() === "ipv4" ? 32 : 128] as const);
  return address.kind() === network.kind() && address.match(network, bits);
};
const mac = (n: number): string => `0A:00:00:00:00:${n.toString(16).padStart(2, "0").toUpperCase()}`;
const HOST_FILTERS: fc.Arbitrary<ReferenceFilter>[] = [
  ...COMMON_FILTERS,
  blocks.map((given) => ({
    parameters: [["ip", given.join(",")]],
    matches: ({ ipAddresses }) =>
      Array.isArray(ipAddresses) && ipAddresses.some((ip) => given.some((block) => isInBlock(ip, block))),
  })),
  fc.uniqueArray(fc.integer({ min: 1, max: 12 }).map(mac), { minLength: 1, maxLength: 3 }).map((macs) =>
    equals(
      "mac",
      macs,
      macs.map((one, i) => (i % 2 ? one.toLowerCase().replaceAll(":", "-") : one)),
    ),
  ),
  oneOrTwoOf("None", "10", "20").map((tags) => equals("vlan", tags)),
  oneOrTwoOf("None").map((tags) => equals("vlan", tags, ["-1"])),
  oneOrTwoOf("true", "false").map((values) => equals("configured", values)),
  fc.integer({ min: 1, max: 12 }).map((n) => equals("id", [`${mac(n)}/10`], [`${mac(n).toLowerCase()}/10`])),
  fc.tuple(devices, fc.option(ports, { nil: undefined })).map(([ids, numbers]) => ({
    parameters: [["device", ids.join(",")], ...(numbers ? [["port", numbers.join(",")] as const] : [])],
    matches: ({ locations }) =>
      Array.isArray(locations) && locations.some((location) => isAt(location, ids, numbers)),
  })),
];

const FILTERS: Readonly<Record<ListName, fc.Arbitrary<ReferenceFilter>[]>> = {
  devices: DEVICE_FILTERS,
  ports: PORT_FILTERS,
  links: LINK_FILTERS,
  hosts: HOST_FILTERS,
};

export interface ListQuery {
  readonly list: ListName;
  readonly filters: readonly ReferenceFilter[];
}

/** A list with up to three filters that use different parameters. */
export const anyListQuery: fc.Arbitrary<ListQuery> = fc
  .constantFrom<ListName>("devices", "ports", "links", "hosts")
  .chain((list) =>
    fc
      .uniqueArray(fc.oneof(...FILTERS[list]), {
        maxLength: 3,
        selector: ({ parameters }) => parameters[0]?.[0],
      })
      .map((filters) => ({ list, filters })),
  );

export const matchesAll = (filters: readonly ReferenceFilter[], entity: JsonEntity): boolean =>
  filters.every(({ matches }) => matches(entity));

export const listPath = (list: ListName): string => (list === "ports" ? "devices/ports" : list);

export function queryPath({ list, filters }: ListQuery, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(more);
  for (const { parameters } of filters) for (const [name, value] of parameters) query.append(name, value);
  return `${listPath(list)}?${query}`;
}
