/**
 * The bridge: lets hosts talk through the switches' own NORMAL forwarding, and keeps loops cut. Every port is open or
 * closed for what comes in. Edge ports open once they have settled. Links form a graph, of which a spanning forest is
 * open; the others are closed at both ends, since a switch floods out of all its ports and only what is taken in can
 * be ruled. Behind a bridge that is not ours, one end of the closed way is muted instead (Port-Mod, OFPPC_NO_FWD), as
 * there may be hosts on it.
 *
 * Always close first, wait until the switches say it is done, then open: at no moment is there a loop. What cannot be
 * known is left as it was: a switch that vanished without a word may still forward, so its links stay in the graph
 * until it is clear; and after a start, switches that carry our flows keep them until all had time to come back.
 */
import type { Clock } from "../../lib/clock.ts";
import type { FlowMod } from "./codec/messages.ts";
import { PORT_CONFIG } from "./codec/port.ts";
import { BROADCAST_PROBE_SECONDS, type PortRule, ruleFlows } from "./flows.ts";
import { type End, endKey, type Link, type LinkEnding, type Links, silenceMs } from "./link-table.ts";
import { isWiredPort } from "./port-ref.ts";
import { type Edge, spanningForest } from "./spanning-tree.ts";
import type { Switch, Switches, SwitchPort } from "./switch-table.ts";

interface Rule extends PortRule {
  readonly mute: boolean;
}
const CLOSED: Rule = { open: false, link: false, mute: false };
const EDGE: Rule = { open: true, link: false, mute: false };
const sameRule = (a: Rule, b: Rule) => a.open === b.open && a.link === b.link && a.mute === b.mute;

/** An edge of the graph and the ports that are ruled by whether it is in the tree. */
interface Member extends Edge {
  readonly ends: readonly End[];
  readonly mute: boolean;
}

interface Order {
  readonly sw: Switch;
  readonly port: SwitchPort;
  readonly rule: Rule;
}

const BARRIER_MS = 2000;
/** How long a network that grows is watched at most before it gets a tree; a quiet tick is enough. */
const GROWTH_MS = 500;

export class Forwarding {
  readonly #switches: Switches;
  readonly #links: Links;
  readonly #clock: Clock;
  readonly #probeIntervalMs: number;
  readonly #applied = new Map<string, Rule>();
  /** Links of switches that may still forward unseen, until when. */
  readonly #doubtful = new Map<string, { readonly link: Link; readonly until: number }>();
  #holdUntil = 0;
  #dirty = false;
  #busy = false;
  /** Something else happened than growth. */
  #urgent = false;
  /** Something came since the last tick: a tree made now would soon be made again. */
  #grew = false;
  #growsSince: number | undefined;

  constructor(switches: Switches, links: Links, clock: Clock, probeIntervalMs: number) {
    this.#switches = switches;
    this.#links = links;
    this.#clock = clock;
    this.#probeIntervalMs = probeIntervalMs;
  }

  /** Something about ports, links or switches is not as it was. */
  changed(): void {
    this.#dirty = true;
    this.#urgent = true;
  }

  /** No rule is changed before then. */
  hold(until: number): void {
    this.#holdUntil = Math.max(this.#holdUntil, until);
  }

  connected(sw: Switch): void {
    const inherited = (sw.session?.inheritedFlows ?? 0) > 0;
    for (const { number } of sw.ports.values()) {
      const key = endKey({ device: sw.id, port: number });
      if (inherited) this.#applied.delete(key);
      else this.#applied.set(key, CLOSED);
    }
    this.#grow();
  }

  portDown(end: End): void {
    this.#resolve(end);
    this.changed();
  }

  linkFound(link: Link): void {
    this.#resolve(link.src);
    this.#resolve(link.dst);
    // Between closed ports nothing can circle yet.
    const closed = [link.src, link.dst].every((end) => this.#applied.get(endKey(end))?.open === false);
    if (closed) this.#grow();
    else this.changed();
  }

  #grow(): void {
    this.#dirty = true;
    this.#grew = true;
  }

  /** What is behind this port is known again. */
  #resolve(end: End): void {
    const key = endKey(end);
    for (const [id, { link }] of this.#doubtful) {
      if (endKey(link.src) === key || endKey(link.dst) === key) this.#doubtful.delete(id);
    }
  }

  linkEnded(link: Link, why: LinkEnding): void {
    this.changed();
    const lost = [link.src, link.dst]
      .map(({ device }) => this.#switches.get(device))
      .find((sw) => !sw?.session);
    if (why !== "silent" || !lost || lost.leftByItself) return;
    // Time for its broadcast flow to run out, and for three probes to come through if it still forwards.
    const until = this.#clock.now() + BROADCAST_PROBE_SECONDS * 1000 + silenceMs(this.#probeIntervalMs);
    this.#doubtful.set(link.id, { link, until });
  }

  /** Whether a port leads to a switch, also one that may forward unseen: then it is no edge. */
  isDoubtful(end: End): boolean {
    const key = endKey(end);
    for (const { link } of this.#doubtful.values()) {
      if (endKey(link.src) === key || endKey(link.dst) === key) return true;
    }
    return false;
  }

  tick(now: number): void {
    for (const [id, { until }] of this.#doubtful) {
      if (now < until) continue;
      this.#doubtful.delete(id);
      this.changed();
    }
    if (!this.#dirty || this.#busy || now < this.#holdUntil || this.#stillGrows(now)) return;
    this.#busy = true;
    this.#converge().finally(() => {
      this.#busy = false;
    });
  }

  #stillGrows(now: number): boolean {
    const grew = this.#grew && !this.#urgent;
    this.#grew = false;
    if (grew) this.#growsSince ??= now;
    if (grew && now - (this.#growsSince ?? now) < GROWTH_MS) return true;
    this.#growsSince = undefined;
    return false;
  }

  async #converge(): Promise<void> {
    this.#dirty = false;
    this.#urgent = false;
    const orders = this.#orders();
    const closings = orders.filter(({ rule }) => !rule.open);
    await this.#carryOut(closings);
    // What came up while the switches were closing may forbid an opening: judge again, with the next tick.
    if (this.#dirty) return;
    await this.#carryOut(orders.filter(({ rule }) => rule.open));
  }

  /** What has to be told to the switches: the rules that differ from those they have. */
  #orders(): Order[] {
    const ruled = this.#ruledByGraph();
    const orders: Order[] = [];
    for (const sw of this.#switches.all()) {
      if (!sw.session) continue;
      for (const port of sw.ports.values()) {
        const key = endKey({ device: sw.id, port: port.number });
        const has = this.#applied.get(key);
        const rule = this.#ruleOf(port, ruled.get(key), has);
        if (rule && !(has && sameRule(has, rule))) orders.push({ sw, port, rule });
      }
    }
    return orders;
  }

  #ruleOf(port: SwitchPort, ruled: Rule | undefined, has: Rule | undefined): Rule | undefined {
    if (!port.up) return CLOSED;
    if (ruled) return ruled;
    if (port.edge || !isWiredPort(port.number)) return EDGE;
    // Not judged yet. What the switch brought along stays until it is.
    return has && CLOSED;
  }

  #ruledByGraph(): Map<string, Rule> {
    const members = this.#members();
    const tree = spanningForest(members);
    const rules = new Map<string, Rule>();
    for (const member of members) {
      const open = tree.has(member.id);
      for (const end of member.ends) {
        rules.set(endKey(end), { open, link: true, mute: member.mute && !open });
      }
    }
    return rules;
  }

  #members(): Member[] {
    const links = [...this.#links.all(), ...[...this.#doubtful.values()].map(({ link }) => link)];
    const members = new Map<string, Member>();
    for (const link of links) {
      if (!link.direct) continue;
      const ends = [link.src, link.dst].sort((a, b) => (endKey(a) < endKey(b) ? -1 : 1));
      const id = ends.map(endKey).join(" ");
      const [a = link.src, b = link.dst] = ends;
      members.set(id, { id, a: a.device, b: b.device, ends, mute: false, ...this.#standing(ends) });
    }
    for (const [segment, ends] of segments(links.filter((link) => !link.direct))) {
      for (const end of ends) {
        const id = endKey(end);
        members.set(id, { id, a: end.device, b: segment, ends: [end], mute: true, ...this.#standing([end]) });
      }
    }
    return [...members.values()];
  }

  #standing(ends: readonly End[]): { open: boolean; fixed: boolean } {
    return {
      open: ends.every((end) => this.#applied.get(endKey(end))?.open === true),
      fixed: ends.some((end) => !this.#switches.get(end.device)?.session),
    };
  }

  async #carryOut(orders: readonly Order[]): Promise<void> {
    if (orders.length === 0) return;
    const concerned = new Set<Switch>();
    for (const { sw, port, rule } of orders) {
      if (!sw.session) continue;
      concerned.add(sw);
      for (const flow of this.#flowsFor(sw, port, rule)) sw.session.send("flowMod", flow);
      this.#mute(sw, port, rule.mute);
      this.#applied.set(endKey({ device: sw.id, port: port.number }), rule);
    }
    const done = Promise.all([...concerned].map((sw) => sw.session?.barrier()));
    const patience = new AbortController();
    await Promise.race([done, this.#clock.sleep(BARRIER_MS, patience.signal)]);
    patience.abort();
  }

  #flowsFor(sw: Switch, port: SwitchPort, rule: Rule): FlowMod[] {
    return ruleFlows(port.number, rule, this.#applied.get(endKey({ device: sw.id, port: port.number })));
  }

  #mute(sw: Switch, { number: port, description }: SwitchPort, mute: boolean): void {
    const was = this.#applied.get(endKey({ device: sw.id, port }))?.mute;
    // A port that somebody else has muted is theirs; one that carries our flows from before was muted by us.
    const muted = was ?? (description.config & PORT_CONFIG.noForward) !== 0;
    if (mute === muted) return;
    const config = mute ? PORT_CONFIG.noForward : 0;
    sw.session?.send("portMod", { port, mac: description.mac, config, mask: PORT_CONFIG.noForward });
  }
}

/** Ports that hear each other's broadcasts are on one segment: each segment's name and its ports. */
function segments(links: readonly Link[]): Map<string, End[]> {
  const neighbours = new Map<string, { readonly end: End; readonly others: End[] }>();
  for (const { src, dst } of links) {
    for (const [end, other] of [
      [src, dst],
      [dst, src],
    ] as const) {
      const known = neighbours.get(endKey(end)) ?? { end, others: [] };
      known.others.push(other);
      neighbours.set(endKey(end), known);
    }
  }
  const found = new Map<string, End[]>();
  const placed = new Set<string>();
  for (const key of [...neighbours.keys()].sort()) {
    if (placed.has(key)) continue;
    const ends: End[] = [];
    const queue = [key];
    placed.add(key);
    for (const at of queue) {
      const node = neighbours.get(at);
      if (!node) continue;
      ends.push(node.end);
      for (const other of node.others.map(endKey)) {
        if (!placed.has(other)) queue.push(other);
        placed.add(other);
      }
    }
    found.set(`segment ${key}`, ends);
  }
  return found;
}
