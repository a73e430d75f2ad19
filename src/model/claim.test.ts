import { describe, expect, test } from "bun:test";
import { CLAIM_LIMITS, type ClaimTypes, canonicalClaim, sortIps } from "./claim.ts";
import type { Kind } from "./ids.ts";

const AT = [{ elementId: "of:1", port: "1" }];
const MAC = "00:00:00:00:00:01";
const END = { device: "of:1", port: "1" };
const OTHER = { device: "of:2", port: "1" };
const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));

function fault(kind: Kind, record: unknown): string {
  const result = canonicalClaim(kind, record);
  return result.ok ? "accepted" : `${result.fault.field} ${result.fault.message}`;
}
function accepted<K extends Kind>(kind: K, record: unknown): { id: string; claim: ClaimTypes[K] } {
  const result = canonicalClaim(kind, record);
  if (!result.ok) throw new Error(`${result.fault.field} ${result.fault.message}`);
  return result;
}

describe("one invalid record for each rule", () => {
  test.each([
    ["devices", null, " must be object"],
    ["devices", [], " must be object"],
    ["devices", {}, "/id is required"],
    ["devices", { id: 7 }, "/id must be string"],
    ["devices", { id: "" }, "/id must not have fewer than 1 characters"],
    ["devices", { id: "a b" }, "/id must match pattern"],
    ["devices", { id: "a\nb" }, "/id must match pattern"],
    ["devices", { id: "a\u0000" }, "/id must match pattern"],
    ["devices", { id: "a\u2028b" }, "/id must match pattern"],
    ["devices", { id: "a\u0080" }, "/id must match pattern"],
    ["devices", { id: "a\u009b2J" }, "/id must match pattern"],
    ["devices", { id: "\u061ca" }, "/id must match pattern"],
    ["devices", { id: "a\u200eb" }, "/id must match pattern"],
    ["devices", { id: "a\u200fb" }, "/id must match pattern"],
    ["devices", { id: "a\u202eb" }, "/id must match pattern"],
    ["devices", { id: "a\u2066b" }, "/id must match pattern"],
    ["devices", { id: "a\u2069" }, "/id must match pattern"],
    ["devices", { id: "a", aliases: ["b\u202e"] }, "/aliases/0 must match pattern"],
    ["links", { src: { device: "a\u009b", port: 1 }, dst: OTHER }, "/src/device must match pattern"],
    ["devices", { id: "a\ud800" }, "/id is not well-formed text"],
    ["devices", { id: "x".repeat(CLAIM_LIMITS.id + 1) }, "/id must not have more than 255 characters"],
    ["devices", { id: "a", typ: "SWITCH" }, "/typ is not a field of this record"],
    ["devices", { id: "a", type: "switch" }, "/type must be equal to one of the allowed values (SWITCH, ROUTER"],
    ["devices", { id: "a", available: "yes" }, "/available must be boolean"],
    ["devices", { id: "a", mfr: "x".repeat(CLAIM_LIMITS.text + 1) }, "/mfr must not have more than 16384 characters"],
    ["devices", { id: "a", lastUpdate: "yesterday" }, "/lastUpdate must match pattern"],
    ["devices", { id: "a", annotations: { k: 1 } }, "/annotations/k must be string"],
    ["devices", { id: "a", annotations: many(CLAIM_LIMITS.annotations + 1) }, "/annotations must not have more than 256 properties"],
    ["devices", { id: "a", aliases: "b" }, "/aliases must be array"],
    ["devices", { id: "a", aliases: ["b", "c d"] }, "/aliases/1 must match pattern"],
    ["devices", { id: "a", aliases: ["b", ""] }, "/aliases/1 must not have fewer than 1 characters"],
    ["devices", { id: "a", aliases: ["b\ud800"] }, "/aliases/0 is not well-formed text"],
    ["devices", { id: "a", aliases: new Array(CLAIM_LIMITS.aliases + 1).fill("b") }, "/aliases must not have more than 16 items"],
    ["ports", { element: "of:1" }, "/port is required"],
    ["ports", { element: "of:1", port: "eth0" }, "/port must be a decimal number, local or controller"],
    ["ports", { element: "of:1", port: -1 }, "/port"],
    ["ports", { element: "of:1", port: 12_345_678_901 }, "/port must be a decimal number, local or controller"],
    ["ports", { element: "\udc00", port: 1 }, "/element is not well-formed text"],
    ["ports", { element: "of:1", port: 1, portSpeed: "fast" }, "/portSpeed must be number"],
    ["links", { src: END }, "/dst is required"],
    ["links", { src: END, dst: END }, "/dst is the same port as src"],
    ["links", { src: END, dst: { device: "of:1", port: "01" } }, "/dst is the same port as src"],
    ["links", { src: { ...END, x: 1 }, dst: OTHER }, "/src/x is not a field of this record"],
    ["links", { src: { device: "\ud800", port: 1 }, dst: OTHER }, "/src/device is not well-formed text"],
    ["links", { src: END, dst: { device: "\ud800", port: 1 } }, "/dst/device is not well-formed text"],
    ["links", { src: END, dst: { device: "of:2", port: 99_999_999_999 } }, "/dst/port must be a decimal number, local or controller"],
    ["links", { src: END, dst: OTHER, state: "UP" }, "/state must be equal to one of the allowed values (ACTIVE, INACTIVE)"],
    ["hosts", { mac: MAC }, "/locations is required"],
    ["hosts", { mac: MAC, locations: [] }, "/locations must not have fewer than 1 items"],
    ["hosts", { mac: "here", locations: AT }, "/mac is not a MAC address"],
    ["hosts", { mac: MAC, vlan: 4095, locations: AT }, "/vlan must be None, Any or a tag from 1 to 4094"],
    ["hosts", { mac: MAC, innerVlan: "x", locations: AT }, "/innerVlan must be None, Any or a tag from 1 to 4094"],
    ["hosts", { mac: MAC, outerTpid: "8100", locations: AT }, "/outerTpid must match pattern"],
    ["hosts", { mac: MAC, ipAddresses: ["10.0.0.1", "10.1"], locations: AT }, "/ipAddresses/1 is not an IP address"],
    ["hosts", { mac: MAC, ipAddresses: new Array(CLAIM_LIMITS.addresses + 1).fill("10.0.0.1"), locations: AT }, "/ipAddresses must not have more than 1024 items"],
    ["hosts", { mac: MAC, locations: [{ elementId: "of:1" }] }, "/locations/0/port is required"],
    ["hosts", { mac: MAC, locations: [{ elementId: "\ud800", port: 1 }] }, "/locations/0/elementId is not well-formed text"],
    ["hosts", { mac: MAC, locations: new Array(CLAIM_LIMITS.locations + 1).fill(AT[0]) }, "/locations must not have more than 64 items"],
  ] as const)("%s %j", (kind, record, expected) => {
    expect(fault(kind, record)).toStartWith(expected);
  }); // biome-ignore format: a table
});

describe("the whole record", () => {
  /** A device whose canonical JSON has this many bytes, most of them in texts of `text` repeated. */
  function deviceOf(bytes: number, text: string) {
    const device = (annotations: Record<string, string>) => ({ id: "of:1", annotations });
    const size = (value: object) => Buffer.byteLength(JSON.stringify(value));
    const annotations: Record<string, string> = {};
    for (let n = 0; size(device(annotations)) < bytes - 20_000; n++) annotations[`k${n}`] = text.repeat(1000);
    const left = bytes - size(device({ ...annotations, last: "" }));
    return device({ ...annotations, last: "x".repeat(left - 5000), mfr: "" });
  }

  test.each([
    ["ASCII", "x"],
    ["characters of three bytes", "漢"],
    ["pairs of surrogates", "👾"],
    ["quotes, which are escaped", '"'],
    ["control characters, which are escaped", "\u0001"],
  ])("may have 65,536 bytes as JSON, and not one more: %s", (_, text) => {
    const fitting = deviceOf(CLAIM_LIMITS.bytes, text);
    const missing = CLAIM_LIMITS.bytes - Buffer.byteLength(JSON.stringify(fitting));
    fitting.annotations.mfr = "y".repeat(missing);
    expect(Buffer.byteLength(JSON.stringify(fitting))).toBe(65_536);
    expect(fault("devices", fitting)).toBe("accepted");
    fitting.annotations.mfr += "y";
    expect(fault("devices", fitting)).toBe(" must not have more than 65536 bytes as JSON, but has 65537");
  });

  test("is refused where many fields are long, of any kind", () => {
    const texts = Object.fromEntries(
      ["mfr", "hw", "sw", "serial", "driver"].map((field) => [field, "x".repeat(16_000)]),
    );
    const annotations = Object.fromEntries(
      Array.from({ length: 5 }, (_, n) => [`k${n}`, "x".repeat(16_000)]),
    );
    const elements = Array.from({ length: 64 }, (_, n) => ({
      elementId: `${n}${"漢".repeat(250)}`,
      port: 1,
    }));
    for (const [kind, record] of [
      ["devices", { id: "of:1", ...texts }],
      ["ports", { element: "of:1", port: 1, annotations }],
      ["links", { src: END, dst: OTHER, annotations }],
      ["hosts", { mac: MAC, locations: AT, annotations }],
      ["hosts", { mac: MAC, locations: elements, auxLocations: elements }],
    ] as const)
      expect(fault(kind, record)).toStartWith(" must not have more than 65536 bytes as JSON");
  });
});

describe("canonical form", () => {
  test("of a device: annotations are sorted and lone surrogates replaced", () => {
    const { id, claim } = accepted("devices", {
      id: "of:1",
      mfr: "a\ud800b",
      annotations: { b: "\udfff", a: "1" },
    });
    expect(id).toBe("of:1");
    expect(claim).toEqual({ id: "of:1", mfr: "a\ufffdb", annotations: { a: "1", b: "\ufffd" } });
    expect(Object.keys(claim.annotations ?? {})).toEqual(["a", "b"]);
  });

  test("of a device: aliases are sorted, each once in any case, without the id, and absent when none is left", () => {
    const aliases = (given: string[]) => accepted("devices", { id: "of:1a", aliases: given }).claim;
    expect(aliases(["b", "OF:2B", "Leaf", "leaf", "OF:1A", "b"])).toEqual({
      id: "of:1a",
      aliases: ["Leaf", "b", "of:2b"],
    });
    expect(aliases(["OF:1A"])).toEqual({ id: "of:1a" });
    expect(aliases([])).toEqual({ id: "of:1a" });
  });

  test("an annotation named __proto__ is stored like any other", () => {
    const given = JSON.parse('{"id":"of:1","annotations":{"__proto__":"x","constructor":"y"}}');
    const { claim } = accepted("devices", given);
    expect(JSON.stringify(claim.annotations)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(Object.getPrototypeOf(claim.annotations)).toBe(Object.prototype);
  });

  test("of a port and of a link: the id is derived from the ends alone", () => {
    expect(accepted("ports", { element: "of:1", port: 7 })).toMatchObject({
      id: "of:1/7",
      claim: { port: "7" },
    });
    expect(accepted("ports", { element: "of:1", port: "LOCAL" }).id).toBe("of:1/local");
    const { id, claim } = accepted("links", {
      src: { device: "of:1", port: 3 },
      dst: { device: "of:2", port: "04" },
    });
    expect(id).toBe("of:1/3-of:2/4");
    expect(claim).toEqual({ src: { port: "3", device: "of:1" }, dst: { port: "4", device: "of:2" } });
  });

  test("of a host: canonical addresses, and each location and address once", () => {
    const { id, claim } = accepted("hosts", {
      mac: "aabb.ccdd.ee01",
      vlan: "0010",
      innerVlan: null,
      outerTpid: "0x88A8",
      ipAddresses: ["2001:DB8::1", "10.0.0.10", "10.0.0.9", "2001:db8:0:0::1"],
      locations: [
        { elementId: "of:2", port: 1 },
        { elementId: "of:1", port: "1" },
        { elementId: "of:2", port: "01" },
      ],
    });
    expect(id).toBe("AA:BB:CC:DD:EE:01/10");
    expect(claim).toEqual({
      mac: "AA:BB:CC:DD:EE:01",
      vlan: "10",
      innerVlan: "None",
      outerTpid: "0x88a8",
      ipAddresses: ["10.0.0.9", "10.0.0.10", "2001:db8::1"],
      locations: [
        { elementId: "of:2", port: "1" },
        { elementId: "of:1", port: "1" },
      ],
    });
    expect(accepted("hosts", { mac: MAC, locations: AT }).id).toBe(`${MAC}/None`);
  });

  test("does not change the record that was passed", () => {
    const given = {
      mac: "00-00-00-00-00-01",
      ipAddresses: ["10.0.0.2", "10.0.0.1"],
      locations: [{ ...AT[0] }],
    };
    const before = structuredClone(given);
    accepted("hosts", given);
    expect(given).toEqual(before);
  });
});

test("addresses are sorted", () => {
  expect(sortIps(["::1", "10.0.0.10", "10.0.0.9"])).toEqual(["10.0.0.9", "10.0.0.10", "::1"]);
  expect(sortIps(["::1", "10.0.0.10"])).toEqual(["10.0.0.10", "::1"]);
  expect(sortIps(["10.0.0.10", "9.0.0.0"])).toEqual(["9.0.0.0", "10.0.0.10"]);
  expect(sortIps([])).toEqual([]);
});
