/**
 * Matches the ports of a device that several sources report under different ids, each with its own numbers. Two ports are
 * the same by MAC address, then by name, then by number where both lists number alike, one to one. A MAC address or name
 * that two ports of a list have matches nothing. A merged port has its number in the first list; one whose number another
 * port has already gets a number derived from its own id. The result depends on the lists only.
 */
import type { Steps } from "../lib/steps.ts";
import { assignPortNumbers, type NamedPort } from "../model/derived-ids.ts";
import { portId } from "../model/ids.ts";

/** The annotations by which ports are matched. */
export const MAC_ANNOTATIONS = ["portMac", "mac"] as const;
export const NAME_ANNOTATIONS = ["portName", "ifName", "ifDescr", "name"] as const;

export interface MatchablePort {
  readonly number: string;
  readonly macs: readonly string[];
  /** In lower case. */
  readonly names: readonly string[];
}

/** The ports of one id of the device. */
export interface PortList {
  readonly device: string;
  readonly ports: readonly MatchablePort[];
}

/** A port of the device, with the port of each list that is the same. */
interface MergedPort {
  readonly parts: Map<string, MatchablePort>;
  /** Its number in the first list that has it, and that list. */
  readonly number: string;
  readonly device: string;
}

const PORTS_PER_STEP = 256;
const IS_NUMBER = /^\d+$/;

export class PortNumbers {
  /** By `portId` in the list. */
  readonly #numbers: ReadonlyMap<string, string>;
  readonly #taken: ReadonlySet<string>;
  readonly #devices: readonly string[];
  /** Pairs of lists that number alike. */
  readonly #alike: ReadonlySet<string>;

  constructor(devices: readonly string[], numbers: ReadonlyMap<string, string>, alike: ReadonlySet<string>) {
    this.#devices = devices;
    this.#numbers = numbers;
    this.#alike = alike;
    this.#taken = new Set(numbers.values());
  }

  /** The number of a port of one list in the merged device. The list need not contain it: a link may end at any port. */
  numberOf(device: string, number: string): string {
    const listed = this.#numbers.get(portId(device, number));
    if (listed !== undefined) return listed;
    for (const other of this.#devices) {
      const same = this.#numbers.get(portId(other, number));
      if (same !== undefined && this.#alike.has(pairKey(device, other))) return same;
    }
    if (!this.#taken.has(number)) return number;
    const name = portId(device, number);
    return deriveNumbers(this.#taken, [name]).get(name) ?? number;
  }

  equals(other: PortNumbers): boolean {
    return (
      sameItems(this.#alike, other.#alike) &&
      this.#numbers.size === other.#numbers.size &&
      [...this.#numbers].every(([port, number]) => other.#numbers.get(port) === number)
    );
  }
}

/** `lists` in the order of precedence. */
export function* matchPorts(lists: readonly PortList[]): Steps<PortNumbers> {
  const merged: MergedPort[] = [];
  const alike = new Set<string>();
  const earlier: PortList[] = [];
  for (const given of lists) {
    const list = { ...given, ports: [...given.ports].sort(compareNumbers) };
    const left = new Set(list.ports);
    for (const facts of ["macs", "names"] as const) {
      yield;
      matchByFacts(merged, list.device, left, facts);
    }
    yield;
    const owners = new Map<string, MergedPort>();
    for (const port of merged)
      for (const [device, { number }] of port.parts) owners.set(portId(device, number), port);
    for (const other of earlier) {
      yield;
      if (!numbersAlike(list, other, owners)) continue;
      alike.add(pairKey(list.device, other.device)).add(pairKey(other.device, list.device));
      for (const port of left) {
        const match = owners.get(portId(other.device, port.number));
        if (!match || match.parts.has(list.device)) continue;
        match.parts.set(list.device, port);
        left.delete(port);
      }
    }
    for (const port of left)
      merged.push({ number: port.number, device: list.device, parts: new Map([[list.device, port]]) });
    earlier.push(list);
  }
  return new PortNumbers(
    lists.map(({ device }) => device),
    yield* numberPorts(merged),
    alike,
  );
}

/** Matches the ports that are the only ones with a MAC address or name on both sides. Takes them out of `left`. */
function matchByFacts(
  merged: readonly MergedPort[],
  device: string,
  left: Set<MatchablePort>,
  facts: "macs" | "names",
): void {
  const candidates = new Map<string, MergedPort | undefined>();
  for (const port of merged) {
    if (port.parts.has(device)) continue;
    const own = new Set([...port.parts.values()].flatMap((part) => part[facts]));
    for (const fact of own) candidates.set(fact, candidates.has(fact) ? undefined : port);
  }
  const holders = new Map<string, number>();
  for (const port of left)
    for (const fact of new Set(port[facts])) holders.set(fact, (holders.get(fact) ?? 0) + 1);
  for (const port of left) {
    for (const fact of port[facts]) {
      const match = holders.get(fact) === 1 ? candidates.get(fact) : undefined;
      if (!match || match.parts.has(device)) continue;
      match.parts.set(device, port);
      left.delete(port);
      break;
    }
  }
}

/** Whether nothing speaks against it that equal numbers mean the same port. */
function numbersAlike(list: PortList, other: PortList, owners: ReadonlyMap<string, MergedPort>): boolean {
  const numbers = new Map(list.ports.map((port) => [port.number, port]));
  for (const theirs of other.ports) {
    const match = owners.get(portId(other.device, theirs.number))?.parts.get(list.device);
    if (match && match.number !== theirs.number) return false;
    const ours = match ? undefined : numbers.get(theirs.number);
    if (ours && (contradict(ours.macs, theirs.macs) || contradict(ours.names, theirs.names))) return false;
  }
  return true;
}

const contradict = (ours: readonly string[], theirs: readonly string[]): boolean =>
  ours.length > 0 && theirs.length > 0 && !ours.some((fact) => theirs.includes(fact));

function* numberPorts(merged: readonly MergedPort[]): Steps<Map<string, string>> {
  const taken = new Set<string>();
  const others: MergedPort[] = [];
  for (const port of merged) {
    if (taken.has(port.number)) others.push(port);
    else taken.add(port.number);
  }
  const derived = deriveNumbers(
    taken,
    others.map(({ device, number }) => portId(device, number)),
  );
  const renumbered = new Set(others);
  const numbers = new Map<string, string>();
  let left = PORTS_PER_STEP;
  for (const port of merged) {
    const own = renumbered.has(port) ? derived.get(portId(port.device, port.number)) : port.number;
    for (const [device, { number }] of port.parts) numbers.set(portId(device, number), own ?? port.number);
    if (--left > 0) continue;
    left = PORTS_PER_STEP;
    yield;
  }
  return numbers;
}

/** Numbers that are not taken, from the names. */
function deriveNumbers(taken: ReadonlySet<string>, names: readonly string[]): ReadonlyMap<string, string> {
  if (names.length === 0) return new Map();
  const known: NamedPort[] = [...taken]
    .filter((number) => IS_NUMBER.test(number))
    .map((number) => ({ name: number, number: Number(number) }));
  return assignPortNumbers([...known, ...names.map((name) => ({ name }))]);
}

const pairKey = (a: string, b: string): string => `${a} ${b}`;

const compareNumbers = (a: MatchablePort, b: MatchablePort): number =>
  a.number.length - b.number.length || (a.number < b.number ? -1 : a.number > b.number ? 1 : 0);

const sameItems = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && a.isSubsetOf(b);
