import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalPort } from "./address.ts";
import { canonicalClaim } from "./claim.ts";
import {
  assignPortNumbers,
  chassisDeviceId,
  datapathDeviceId,
  isRealIdentity,
  type NamedPort,
  nameDeviceId,
  portNumberOfName,
  serialDeviceId,
} from "./derived-ids.ts";
import { canonicalDeviceId } from "./ids.ts";

describe("ids of devices", () => {
  test.each([
    [chassisDeviceId("00:1B:21:AA:BB:CC"), "lldp:00:1B:21:AA:BB:CC"],
    [chassisDeviceId("core switch/1"), "lldp:core_switch_1"],
    [chassisDeviceId("x".repeat(300)), `lldp:${"x".repeat(200)}`],
    [serialDeviceId(" FOC1234X0AB "), "serial:FOC1234X0AB"],
    [serialDeviceId("AB 12/34"), "serial:AB_12_34"],
    [nameDeviceId("core-1.example.net"), "snmp:core-1.example.net"],
    [nameDeviceId("核心交换机"), "snmp:核心交换机"],
    [nameDeviceId("Bu\u0308ro"), "snmp:B\u00fcro"],
    [nameDeviceId("a?b#c%d"), "snmp:a_b_c_d"],
  ])("%s", (id, expected) => expect(id).toBe(expected));

  test("any text gives a valid id, the same each time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        for (const derive of [chassisDeviceId, serialDeviceId, nameDeviceId]) {
          const id = derive(text);
          expect(canonicalClaim("devices", { id })).toMatchObject({ ok: true, id });
          expect(derive(text)).toBe(id);
        }
      }),
    );
  });

  test("names in any script stay different", () => {
    expect(nameDeviceId("核心")).not.toBe(nameDeviceId("接入"));
    expect(nameDeviceId("Büro")).not.toBe(nameDeviceId("Böro"));
  });
});

describe("datapath ids", () => {
  test.each([
    [1, "of:0000000000000001"],
    ["1", "of:0000000000000001"],
    ["18446744073709551615", "of:ffffffffffffffff"],
    ["11259375", "of:0000000000abcdef"],
    [255n, "of:00000000000000ff"],
    [0, "of:0000000000000000"],
    ["18446744073709551616", undefined],
    [-1, undefined],
    [-1n, undefined],
    [1.5, undefined],
    [2 ** 53, undefined],
    ["", undefined],
    ["0x1", undefined],
    ["1e3", undefined],
    ["one", undefined],
  ])("%p", (datapath, expected) => expect(datapathDeviceId(datapath)).toBe(expected));

  test("have the spelling in which every source shows them", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (datapath) => {
        const id = datapathDeviceId(datapath) ?? "";
        expect(id).toMatch(/^of:[0-9a-f]{16}$/);
        expect(canonicalDeviceId(id.toUpperCase())).toBe(id);
        expect(BigInt(`0x${id.slice(3)}`)).toBe(datapath);
      }),
    );
  });
});

describe("a text that identifies a device", () => {
  test.each([
    "", " ", "0", "000", "00:00:00:00:00:00", "0000-0000", "0.0.0.0", "-", "...", "unknown", "Unknown", "None", "N/A",
    "n/a", "Not Specified", "NOT AVAILABLE", "To Be Filled By O.E.M.", "System Serial Number", "Default string",
    "ff:ff:ff:ff:ff:ff", "FFFFFFFF", "XXXXXXX", "localhost", "0123456789",
  ])("is not %j", (text) => expect(isRealIdentity(text)).toBe(false)); // biome-ignore format: a list of texts

  test.each([
    "1",
    "00:00:00:00:00:01",
    "FOC1234X0AB",
    "core-1",
    "F1",
    "None-1",
    "交换机",
    "0A",
    "10",
    "unknown-7",
  ])("is %j", (text) => expect(isRealIdentity(text)).toBe(true));

  test("may be long", () => {
    expect(isRealIdentity(`${"0:".repeat(100_000)}1`)).toBe(true);
    expect(isRealIdentity(`${"-".repeat(100_000)}1`)).toBe(true);
    expect(isRealIdentity(`${"f:".repeat(100_000)}1`)).toBe(true);
  });
});

describe("the number of one name", () => {
  // Stored by users: these numbers never change.
  test.each([
    ["1", "1"],
    ["007", "7"],
    ["999999999", "999999999"],
    ["1000000000", "1223331615"],
    ["eth1", "1003123640"],
    ["GigabitEthernet1/0/1", "1248835340"],
    ["", "1000000000"],
  ])("%j is %s", (name, number) => expect(portNumberOfName(name)).toBe(number));
});

/** Two names with the same hash. */
const COLLIDING = ["ethAa", "ethBB"] as const;
const OTHER_COLLIDING = ["AaAa", "AaBB", "BBAa", "BBBB"] as const;

const entries = (ports: readonly NamedPort[]) => Object.fromEntries(assignPortNumbers(ports));
const names = (...given: string[]): NamedPort[] => given.map((name) => ({ name }));

describe("the numbers of all ports of a device", () => {
  test("are those of the names where they differ", () => {
    expect(entries(names("eth1", "eth2", "3"))).toEqual({
      eth1: portNumberOfName("eth1"),
      eth2: portNumberOfName("eth2"),
      "3": "3",
    });
  });

  test("a real number stands, also against the number of another's name", () => {
    expect(entries([{ name: "3" }, { name: "eth1", number: 3 }])).toMatchObject({ eth1: "3" });
    expect(entries([{ name: "3" }, { name: "eth1", number: 3 }])["3"]).toMatch(/^1\d{9}$/);
    const derived = Number(portNumberOfName("eth2"));
    expect(entries([{ name: "eth2" }, { name: "eth1", number: derived }])).toMatchObject({
      eth1: String(derived),
    });
  });

  test("names with the same hash get different numbers, the first name its own", () => {
    const [first, second] = COLLIDING;
    expect(portNumberOfName(first)).toBe(portNumberOfName(second));
    const numbers = assignPortNumbers(names(second, first));
    expect(numbers.get(first)).toBe(portNumberOfName(first));
    expect(numbers.get(second)).toBe("1584591659");
  });

  test("of 7 and 07, the name 7 gets the number", () => {
    expect(entries(names("07", "7"))).toMatchObject({ "7": "7" });
  });

  test("two names that claim one real number get different numbers", () => {
    const numbers = entries([
      { name: "b", number: 1 },
      { name: "a", number: 1 },
    ]);
    expect(numbers).toEqual({ a: "1", b: portNumberOfName("b") });
  });

  test("a number that no port can have is not a number", () => {
    for (const number of [-1, 1.5, Number.NaN, 1e11])
      expect(entries([{ name: "a", number }])).toEqual({ a: portNumberOfName("a") });
    expect(entries([{ name: "a", number: 4_294_967_294 }])).toEqual({ a: "4294967294" });
  });

  test("thousands of names made to collide", () => {
    const made = Array.from({ length: 1 << 12 }, (_, i) =>
      Array.from({ length: 12 }, (_, bit) => ((i >> bit) & 1 ? "Aa" : "BB")).join(""),
    );
    expect(new Set(made.map(portNumberOfName)).size).toBe(1);
    expect(new Set(assignPortNumbers(names(...made)).values()).size).toBe(made.length);
  });

  const name = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.nat(20).map(String),
    fc.constantFrom(...COLLIDING, ...OTHER_COLLIDING),
    fc.nat(48).map((i) => `GigabitEthernet1/0/${i}`),
  );
  const port = fc.record(
    { name, number: fc.oneof(fc.nat(20), fc.constant(Number(portNumberOfName("AaAa")))) },
    { requiredKeys: ["name"] },
  );
  const device = fc.array(port, { maxLength: 60 });

  test("depend on the set, not on its order, and are unique valid numbers", () => {
    fc.assert(
      fc.property(
        device.chain((ports) =>
          fc.tuple(fc.constant(ports), fc.shuffledSubarray(ports, { minLength: ports.length })),
        ),
        ([ports, shuffled]) => {
          const numbers = assignPortNumbers(ports);
          expect(Object.fromEntries(assignPortNumbers(shuffled))).toEqual(Object.fromEntries(numbers));
          expect(new Set(numbers.values()).size).toBe(new Set(ports.map(({ name }) => name)).size);
          for (const number of numbers.values()) expect(canonicalPort(number)).toBe(number);
        },
      ),
    );
  });

  test("a port keeps its real number, where no other port claims the same", () => {
    fc.assert(
      fc.property(fc.uniqueArray(port, { selector: ({ name }) => name }), (ports) => {
        const numbers = assignPortNumbers(ports);
        for (const { name, number } of ports) {
          const claimed = ports.filter((other) => number !== undefined && other.number === number).length;
          if (claimed === 1) expect(numbers.get(name)).toBe(String(number));
        }
      }),
    );
  });

  test("an added port changes another's number only where it has exactly that number", () => {
    fc.assert(
      fc.property(fc.uniqueArray(port, { selector: ({ name }) => name, minLength: 1 }), (ports) => {
        const [added, ...before] = ports;
        if (!added) return;
        const earlier = assignPortNumbers(before);
        const later = assignPortNumbers(ports);
        const moved = before.filter(({ name }) => earlier.get(name) !== later.get(name));
        const [first] = moved;
        if (!first) return;
        // Who follows the first one moves because of it in turn, each to the number of the next.
        const taken = moved.map(({ name }) => earlier.get(name));
        expect(taken).toContain(later.get(added.name));
      }),
    );
  });
});
