/**
 * Matches the ports of a device that several sources report under different ids, each with its own numbers. Ports are
 * matched one to one: by MAC address, then by name, then by number if both lists number their ports alike. A MAC address or
 * name that two ports of a list have matches nothing. A merged port has its number in the first list; if another port
 * already has that number, it gets a number derived from its own id. The result depends only on the lists.
 */
import { compareTexts } from "../lib/sorted.ts";
import { COST, Pause, type Steps, sortInSteps } from "../lib/steps.ts";
import { freePortNumber } from "../model/derived-ids.ts";
import { portId } from "../model/ids.ts";

/** The annotations by which ports are matched. */
export const MAC_ANNOTATIONS = ["portMac", "mac"] as const;
export const NAME_ANNOTATIONS = ["portName", "ifName", "ifDescr", "name"] as const;

export interface MatchablePort {
  readonly number: string;
  readonly macs: readonly string[];
  /** The names in lower case. */
  readonly names: readonly string[];
}

/** The ports of one id of the device. */
export interface PortList {
  readonly device: string;
  readonly ports: readonly MatchablePort[];
}

/** A port of the device, with the matching port of each list. */
interface MergedPort {
  readonly parts: Map<string, MatchablePort>;
  /** Its number in the first list that has it, and the device of that list. */
  readonly number: string;
  readonly device: string;
}

export class PortNumbers {
  /** The assigned numbers by `portId` in the list. */
  readonly #numbers: ReadonlyMap<string, string>;
  readonly #taken: ReadonlySet<string>;
  /** The devices of the lists, in order. */
  readonly devices: readonly string[];
  /** Pairs of lists that number their ports alike. */
  readonly #alike: ReadonlySet<string>;

  constructor(devices: readonly string[], { numbers, taken }: AssignedNumbers, alike: ReadonlySet<string>) {
    this.devices = devices;
    this.#numbers = numbers;
    this.#alike = alike;
    this.#taken = taken;
  }

  /** The number of ports in the lists. */
  get size(): number {
    return this.#numbers.size;
  }

  /** The number of a port of one list in the merged device. The port need not be in the list: a link may end at any port. */
  numberOf(device: string, number: string): string {
    const listed = this.#numbers.get(portId(device, number));
    if (listed !== undefined) return listed;
    for (const other of this.devices) {
      const same = this.#numbers.get(portId(other, number));
      if (same !== undefined && this.#alike.has(pairKey(device, other))) return same;
    }
    if (!this.#taken.has(number)) return number;
    return freePortNumber(portId(device, number), (derived) => this.#taken.has(derived));
  }

  *equals(other: PortNumbers): Steps<boolean> {
    if (!sameItems(this.#alike, other.#alike) || this.#numbers.size !== other.#numbers.size) return false;
    const pause = new Pause();
    for (const entry of this.#numbers) {
      if (pause.due(COST.record)) yield;
      if (other.#numbers.get(entry[0]) !== entry[1]) return false;
    }
    return true;
  }
}

/** Matches the ports. `lists` are in order of precedence. */
export function* matchPorts(lists: readonly PortList[]): Steps<PortNumbers> {
  const merged: MergedPort[] = [];
  const alike = new Set<string>();
  const earlier: PortList[] = [];
  /** The merged port that a port of a list is part of, by `portId` in the list. */
  const owners = new Map<string, MergedPort>();
  const pause = new Pause();
  for (const given of lists) {
    const list = { ...given, ports: yield* sortInSteps([...given.ports], compareNumbers) };
    const { device } = list;
    const left = new Set<MatchablePort>();
    for (const port of list.ports) {
      if (pause.due(COST.record)) yield;
      left.add(port);
    }
    const match = (port: MatchablePort, found: MergedPort) => {
      found.parts.set(device, port);
      owners.set(portId(device, port.number), found);
      left.delete(port);
    };
    yield* matchByFacts(merged, device, left, "macs", match);
    yield* matchByFacts(merged, device, left, "names", match);
    for (const other of earlier) {
      if (!(yield* numbersAlike(list, other, owners))) continue;
      alike.add(pairKey(device, other.device)).add(pairKey(other.device, device));
      for (const port of left) {
        if (pause.due(COST.record)) yield;
        const found = owners.get(portId(other.device, port.number));
        if (found && !found.parts.has(device)) match(port, found);
      }
    }
    for (const port of left) {
      if (pause.due(COST.record)) yield;
      const added = { number: port.number, device, parts: new Map([[device, port]]) };
      merged.push(added);
      owners.set(portId(device, port.number), added);
    }
    earlier.push(list);
  }
  return new PortNumbers(
    lists.map(({ device }) => device),
    yield* numberPorts(merged),
    alike,
  );
}

/** Matches the ports that are the only ones with a MAC address or name on both sides. */
function* matchByFacts(
  merged: readonly MergedPort[],
  device: string,
  left: ReadonlySet<MatchablePort>,
  facts: "macs" | "names",
  match: (port: MatchablePort, found: MergedPort) => void,
): Steps<void> {
  const candidates = new Map<string, MergedPort | undefined>();
  const pause = new Pause();
  for (const port of merged) {
    if (pause.due(COST.record)) yield;
    if (!port.parts.has(device)) {
      const own = new Set([...port.parts.values()].flatMap((part) => part[facts]));
      for (const fact of own) candidates.set(fact, candidates.has(fact) ? undefined : port);
    }
  }
  const holders = new Map<string, number>();
  for (const port of left) {
    if (pause.due(COST.record)) yield;
    for (const fact of new Set(port[facts])) holders.set(fact, (holders.get(fact) ?? 0) + 1);
  }
  for (const port of left) {
    if (pause.due(COST.record)) yield;
    const fact = port[facts].find((text) => {
      const found = holders.get(text) === 1 ? candidates.get(text) : undefined;
      return found && !found.parts.has(device);
    });
    const found = fact === undefined ? undefined : candidates.get(fact);
    if (found) match(port, found);
  }
}

/** Whether no MAC address or name contradicts the assumption that equal numbers mean the same port. */
function* numbersAlike(
  list: PortList,
  other: PortList,
  owners: ReadonlyMap<string, MergedPort>,
): Steps<boolean> {
  const numbers = new Map<string, MatchablePort>();
  const pause = new Pause();
  for (const port of list.ports) {
    if (pause.due(COST.record)) yield;
    numbers.set(port.number, port);
  }
  for (const theirs of other.ports) {
    if (pause.due(COST.record)) yield;
    const match = owners.get(portId(other.device, theirs.number))?.parts.get(list.device);
    if (match && match.number !== theirs.number) return false;
    const ours = match ? undefined : numbers.get(theirs.number);
    if (ours && (contradict(ours.macs, theirs.macs) || contradict(ours.names, theirs.names))) return false;
  }
  return true;
}

const contradict = (ours: readonly string[], theirs: readonly string[]): boolean =>
  ours.length > 0 && theirs.length > 0 && !ours.some((fact) => theirs.includes(fact));

interface AssignedNumbers {
  /** The assigned numbers by `portId` in the list. */
  readonly numbers: ReadonlyMap<string, string>;
  readonly taken: ReadonlySet<string>;
}

function* numberPorts(merged: readonly MergedPort[]): Steps<AssignedNumbers> {
  const taken = new Set<string>();
  const numbers = new Map<string, string>();
  const others: MergedPort[] = [];
  const assign = ({ parts }: MergedPort, assigned: string) => {
    taken.add(assigned);
    for (const [device, { number }] of parts) numbers.set(portId(device, number), assigned);
  };
  const pause = new Pause();
  for (const port of merged) {
    if (pause.due(COST.record)) yield;
    if (taken.has(port.number)) others.push(port);
    else assign(port, port.number);
  }
  for (const port of others) {
    if (pause.due(COST.record)) yield;
    assign(
      port,
      freePortNumber(portId(port.device, port.number), (number) => taken.has(number)),
    );
  }
  return { numbers, taken };
}

const pairKey = (a: string, b: string): string => `${a} ${b}`;

const compareNumbers = (a: MatchablePort, b: MatchablePort): number =>
  a.number.length - b.number.length || compareTexts(a.number, b.number);

const sameItems = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && a.isSubsetOf(b);
