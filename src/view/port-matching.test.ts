/** Which ports of two or three lists are the same, and which numbers they get. */
import { expect, test } from "bun:test";
import { runToEnd } from "../lib/steps.ts";
import { matchPorts } from "./port-matching.ts";

/** `NUMBER name=… mac=…`, separated by commas. */
function portsOf(text: string) {
  return text === ""
    ? []
    : text.split(",").map((port) => {
        const [number = "", ...facts] = port.trim().split(" ");
        const all = (key: string) =>
          facts.flatMap((fact) => (fact.startsWith(key) ? [fact.slice(key.length)] : []));
        return { number, macs: all("mac="), names: all("name=") };
      });
}

const DERIVED = /^1\d{9}$/;

/** The lists of the devices a, b and c; then the numbers of the ports of b and c in the merged device. */
const CASES: [why: string, lists: string[], expected: Record<string, string | RegExp>][] = [
  ["a MAC address goes before a name", ["1 mac=x name=p, 2 mac=y name=q", "7 mac=x name=q"], { "b/7": "1" }],
  ["a name goes before a number", ["1 name=p, 2 name=q", "1 name=q, 2 name=p"], { "b/1": "2", "b/2": "1" }],
  ["equal numbers where both number alike", ["1, 2", "1, 3"], { "b/1": "1", "b/3": "3" }],
  ["a pair with other numbers: equal numbers mean nothing", ["1 name=p, 2", "2 name=p, 1"], { "b/2": "1", "b/1": DERIVED }],
  ["a contradiction: equal numbers mean nothing", ["1 name=p, 2", "1 name=z, 2"], { "b/1": DERIVED, "b/2": DERIVED }],
  ["MAC addresses that contradict", ["1 mac=x, 2", "1 mac=z, 2"], { "b/1": DERIVED, "b/2": DERIVED }],
  ["a MAC address that several ports have matches nothing", ["1 mac=x, 2 mac=x", "2 mac=x, 1 mac=x"], { "b/1": "1", "b/2": "2" }],
  ["a name that several ports have matches nothing", ["1 name=p, 2 name=p", "8 name=p"], { "b/8": "8" }],
  ["a free number is kept", ["1 name=p", "5 name=q, 1 name=z"], { "b/5": "5", "b/1": DERIVED }],
  ["one to one: a port is matched once", ["1 mac=x name=p", "4 mac=x, 5 name=p"], { "b/4": "1", "b/5": "5" }],
  ["a third list matches what the second added", ["1 name=p", "9 name=q", "3 name=q"], { "b/9": "9", "c/3": "9" }],
  ["a port that is not listed, where both number alike", ["1 name=p, 4", "1 name=p"], { "b/4": "4" }],
  ["a port that is not listed, where they do not", ["1 name=p, 4", "2 name=p"], { "b/4": DERIVED, "b/6": "6" }],
  ["logical ports have names", ["local name=local", "local name=local, 3"], { "b/local": "local" }],
  ["a list without ports", ["1 name=p", ""], { "b/1": "1", "b/2": "2" }],
]; // biome-ignore format: a table

for (const [why, lists, expected] of CASES) {
  test(why, () => {
    const devices = ["a", "b", "c"];
    const given = lists.map((text, i) => ({ device: devices[i] ?? "", ports: portsOf(text) }));
    const numbers = runToEnd(matchPorts(given));
    const reordered = runToEnd(
      matchPorts(given.map((list) => ({ ...list, ports: list.ports.toReversed() }))),
    );
    expect(runToEnd(reordered.equals(numbers))).toBe(true);
    for (const { number } of portsOf(lists[0] ?? "")) expect(numbers.numberOf("a", number)).toBe(number);
    for (const [port, number] of Object.entries(expected)) {
      const [device = "", own = ""] = port.split("/");
      if (typeof number === "string") expect(numbers.numberOf(device, own)).toBe(number);
      else expect(numbers.numberOf(device, own)).toMatch(number);
    }
  });
}

test("no two ports of a list become one", () => {
  const ports = portsOf(Array.from({ length: 50 }, (_, i) => `${i} name=b${i}`).join(","));
  const others = portsOf(Array.from({ length: 50 }, (_, i) => `${i} name=a${i}`).join(","));
  const numbers = runToEnd(
    matchPorts([
      { device: "a", ports: others },
      { device: "b", ports },
    ]),
  );
  const all = ports.flatMap(({ number }) => [numbers.numberOf("a", number), numbers.numberOf("b", number)]);
  expect(new Set(all).size).toBe(100);
});

test("10,000 ports are matched in small steps, and one that is not listed is not compared with all", () => {
  const count = 10_000;
  let reads = 0;
  const ports = (prefix: string, first: number) =>
    Array.from({ length: count }, (_, i) => ({
      number: String(i + first),
      macs: [],
      get names() {
        reads++;
        return [`${prefix}${i}`];
      },
    }));
  for (const prefix of ["a", "b"]) {
    const steps = matchPorts([
      { device: "a", ports: ports("a", 1) },
      { device: "b", ports: ports(prefix, 2) },
    ]);
    for (;;) {
      reads = 0;
      const { done, value } = steps.next();
      expect(reads).toBeLessThan(2000);
      if (!done) continue;
      const unlisted = Array.from({ length: count }, (_, i) => value.numberOf("c", String(i + 1)));
      expect(new Set(unlisted).size).toBe(count);
      break;
    }
  }
});
