/**
 * The questions of part 4 answered the plain way, on parsed lists: what the service's indexes and scans are compared
 * with. A question is its parameters, a test of one thing, and nothing shared with the service's own code.
 */
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { deviceId, HOSTILE } from "./network.ts";

export type Thing = Readonly<Record<string, unknown>>;
export type ListName = "devices" | "ports" | "links" | "hosts";

export interface Question {
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly test: (thing: Thing) => boolean;
}

const equals = (name: string, values: readonly string[], as = values): Question => ({
  parameters: [[name, as.map(escaped).join(",")]],
  test: (thing) => values.includes(String(thing[name] ?? "")),
});
/** A comma inside a value. */
const escaped = (value: string): string => value.replaceAll(",", "\\,");

const some = <T>(...values: T[]) =>
  fc.subarray(values, { minLength: 1, maxLength: Math.min(2, values.length) });
const device = fc.integer({ min: 1, max: 9 }).map(deviceId);
const devices = fc.uniqueArray(device, { minLength: 1, maxLength: 2 });
const ports = some("1", "2", "local", "77");
const words = ["core", "\u212aelvin \u0130", "Edge", "a,b", "ünïcode", HOSTILE, "=cmd", "nowhere"];

const annotation = fc.tuple(fc.constantFrom("name", "site", "constructor", "a.b"), some(...words, ""));
const COMMON: fc.Arbitrary<Question>[] = [
  annotation.map(([key, values]) => ({
    parameters: [[`annotations.${key}`, values.map(escaped).join(",")]],
    test: ({ annotations }) =>
      values.includes(Object.entries(annotations ?? {}).find(([k]) => k === key)?.[1] ?? ""),
  })),
  some("first", "second", "third").map((names) => ({
    parameters: [["source", names.join(",")]],
    test: ({ sources }) => Array.isArray(sources) && sources.some((name) => names.includes(name)),
  })),
  fc
    .constantFrom("of:", "EDGE", "ÜNÏ", '"<b>', "10.0.", "🦊", "\n", "000009", "\\", "zzz", "k", "i", "KEL")
    .map((q) => ({
      parameters: [["q", q]],
      test: (thing) => strings(thing).some((text) => text.toLowerCase().includes(q.toLowerCase())),
    })),
  fc.integer({ min: 1, max: 6 }).map((n) => equals("revision", [String(n)])),
];

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(strings) : [];
}

const at = (end: unknown): [device: unknown, port: unknown] => {
  const { device: id, elementId, port } = Object(end);
  return [id ?? elementId, port];
};
const isAt = (end: unknown, ids: readonly string[], numbers?: readonly string[]): boolean => {
  const [id, port] = at(end);
  return ids.includes(String(id)) && (numbers === undefined || numbers.includes(String(port)));
};

const DEVICES: fc.Arbitrary<Question>[] = [
  ...COMMON,
  some("SWITCH", "ROUTER", "OTHER", "SERVER").map((types) => equals("type", types)),
  some("ROUTER").map((types) => equals("type", types, ["router"])),
  some("true", "false").map((values) => equals("available", values)),
  some("MASTER", "NONE").map((values) => equals("role", values)),
  some(...words, "unknown").map((values) => equals("mfr", values)),
  some("1.0", "1.1", "unknown").map((values) => equals("sw", values)),
  devices.map((ids) => equals("id", ids)),
];

const PORTS: fc.Arbitrary<Question>[] = [
  ...COMMON,
  devices.map((ids) => equals("element", ids)),
  ports.map((numbers) => equals("port", numbers)),
  some("true", "false").map((values) => equals("isEnabled", values)),
  some("10", "1000", "2.5").map((values) => equals("portSpeed", values)),
];

const direction = fc.constantFrom("ingress", "egress", "all", undefined);
const ENDS = { ingress: ["dst"], egress: ["src"], all: ["src", "dst"] } as const;
const LINKS: fc.Arbitrary<Question>[] = [
  ...COMMON,
  some("ACTIVE", "INACTIVE").map((values) => equals("state", values)),
  some("DIRECT", "TUNNEL").map((values) => equals("type", values)),
  some("true", "false").map((values) => equals("bidirectional", values)),
  fc.tuple(fc.constantFrom("src", "dst"), devices).map(([end, ids]) => ({
    parameters: [[end, ids.join(",")]],
    test: (thing) => isAt(thing[end], ids),
  })),
  fc.tuple(devices, fc.option(ports, { nil: undefined }), direction).map(([ids, numbers, way]) => ({
    parameters: [
      ["device", ids.join(",")],
      ...(numbers ? [["port", numbers.join(",")] as const] : []),
      ...(way ? [["direction", way] as const] : []),
    ],
    test: (thing) => ENDS[way ?? "all"].some((end) => isAt(thing[end], ids, numbers)),
  })),
];

const blocks = some(
  "10.0.0.0/24",
  "10.0.1.3",
  "10.0.0.0/8",
  "2001:db8::/32",
  "2001:0DB8::0003",
  "0.0.0.0/0",
  "::/0",
  "10.0.2.5/31",
);
const inBlock = (text: string, block: string): boolean => {
  const address = ipaddr.parse(text);
  const [network, bits] = block.includes("/")
    ? ipaddr.parseCIDR(block)
    : ([ipaddr.parse(block), ipaddr.parse(block).kind() === "ipv4" ? 32 : 128] as const);
  return address.kind() === network.kind() && address.match(network, bits);
};
const mac = (n: number): string => `0A:00:00:00:00:${n.toString(16).padStart(2, "0").toUpperCase()}`;
const HOSTS: fc.Arbitrary<Question>[] = [
  ...COMMON,
  blocks.map((given) => ({
    parameters: [["ip", given.join(",")]],
    test: ({ ipAddresses }) =>
      Array.isArray(ipAddresses) && ipAddresses.some((ip) => given.some((block) => inBlock(ip, block))),
  })),
  fc.uniqueArray(fc.integer({ min: 1, max: 12 }).map(mac), { minLength: 1, maxLength: 3 }).map((macs) =>
    equals(
      "mac",
      macs,
      macs.map((one, i) => (i % 2 ? one.toLowerCase().replaceAll(":", "-") : one)),
    ),
  ),
  some("None", "10", "20").map((tags) => equals("vlan", tags)),
  some("None").map((tags) => equals("vlan", tags, ["-1"])),
  some("true", "false").map((values) => equals("configured", values)),
  fc.integer({ min: 1, max: 12 }).map((n) => equals("id", [`${mac(n)}/10`], [`${mac(n).toLowerCase()}/10`])),
  fc.tuple(devices, fc.option(ports, { nil: undefined })).map(([ids, numbers]) => ({
    parameters: [["device", ids.join(",")], ...(numbers ? [["port", numbers.join(",")] as const] : [])],
    test: ({ locations }) => Array.isArray(locations) && locations.some((place) => isAt(place, ids, numbers)),
  })),
];

const QUESTIONS: Readonly<Record<ListName, fc.Arbitrary<Question>[]>> = {
  devices: DEVICES,
  ports: PORTS,
  links: LINKS,
  hosts: HOSTS,
};

export interface Asked {
  readonly list: ListName;
  readonly questions: readonly Question[];
}

/** Up to three questions that do not name the same parameter, of one list. */
export const anyQuestions: fc.Arbitrary<Asked> = fc
  .constantFrom<ListName>("devices", "ports", "links", "hosts")
  .chain((list) =>
    fc
      .uniqueArray(fc.oneof(...QUESTIONS[list]), {
        maxLength: 3,
        selector: ({ parameters }) => parameters[0]?.[0],
      })
      .map((questions) => ({ list, questions })),
  );

export const passes = (questions: readonly Question[], thing: Thing): boolean =>
  questions.every(({ test }) => test(thing));

export const listPath = (list: ListName): string => (list === "ports" ? "devices/ports" : list);

export function address({ list, questions }: Asked, more: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams(more);
  for (const { parameters: own } of questions)
    for (const [name, value] of own) parameters.append(name, value);
  return `${listPath(list)}?${parameters}`;
}
