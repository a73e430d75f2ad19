/**
 * The bridge: connects hosts through the switches' own NORMAL forwarding without loops. Each port is open or closed for
 * received frames. Edge ports open once they have settled. Links form a graph whose spanning forest is open. The other
 * links are closed at both ends: a switch floods out of all its ports, so only the receiving side can be controlled.
 * Behind a bridge without an OpenFlow session there may be hosts, so there one end is muted instead (port-mod,
 * OFPPC_NO_FWD).
 *
 * Ports are always closed first; others open only after the switches have confirmed that (barrier), so there is never a
 * loop. Without information nothing changes: a switch that became unreachable may still forward, so its links stay in
 * the graph until that is known; after a start, switches with flows from before keep them until all had time to connect.
 */
import type { Clock } from "../../lib/clock.ts";
import type { FlowMod } from "./codec/messages.ts";
import { PORT_CONFIG } from "./codec/port.ts";
import { BROADCAST_PROBE_SECONDS, type PortRule, ruleFlows } from "./flows.ts";
import { type DiscoveredLink, type LinkEndReason, type LinkTable, linkTimeoutMs } from "./link-table.ts";
import { isWiredPort, type PortRef, portKey } from "./port-ref.ts";
import { type GraphEdge, spanningForest } from "./spanning-tree.ts";
import type { Switch, SwitchPort, SwitchTable } from "./switch-table.ts";

interface Rule extends PortRule {
  /** The switch does not send out of the port. */
  readonly mute: boolean;
}
const CLOSED: Rule = { open: false, link: false, mute: false };
const EDGE: Rule = { open: true, link: false, mute: false };
const sameRule = (a: Rule, b: Rule) => a.open === b.open && a.link === b.link && a.mute === b.mute;

/** An edge of the graph, and the ports that are open when it is in the forest. */
interface LinkEdge extends GraphEdge {
  readonly ports: readonly PortRef[];
  /** Its ports are muted when it is not in the forest. */
  readonly mute: boolean;
}

interface RuleChange {
  readonly sw: Switch;
  readonly port: SwitchPort;
  readonly rule: Rule;
}

const BARRIER_TIMEOUT_MS = 2000;
/** While switches and links are being added, the forest is computed after one tick without additions, or after this. */
const MAX_GROWTH_WAIT_MS = 500;

export class Forwarding {
  readonly #switches: SwitchTable;
  readonly #links: LinkTable;
  readonly #clock: Clock;
  readonly #probeIntervalMs: number;
  readonly #applied = new Map<string, Rule>();
  /** Removed links of unreachable switches that may still forward. */
  readonly #suspects = new Map<string, { readonly link: DiscoveredLink; readonly until: number }>();
  #deferredUntil = 0;
  #dirty = false;
  #converging = false;
  /** A change other than an addition: the forest must be computed at the next tick. */
  #urgent = false;
  /** Additions since the last tick: a forest computed now would soon be outdated. */
  #grew = false;
  #growingSince: number | undefined;

  constructor(switches: SwitchTable, links: LinkTable, clock: Clock, probeIntervalMs: number) {
    this.#switches = switches;
    this.#links = links;
    this.#clock = clock;
    this.#probeIntervalMs = probeIntervalMs;
  }

  /** A port, link or switch changed. */
  changed(): void {
    this.#dirty = true;
    this.#urgent = true;
  }

  /** No rule is changed before this time. */
  deferUntil(time: number): void {
    this.#deferredUntil = Math.max(this.#deferredUntil, time);
  }

  switchConnected(sw: Switch): void {
    const inherited = (sw.session?.inheritedFlows ?? 0) > 0;
    for (const { number } of sw.ports.values()) {
      const key = portKey({ device: sw.id, port: number });
      if (inherited) this.#applied.delete(key);
      else this.#applied.set(key, CLOSED);
    }
    this.#recordGrowth();
  }

  portDown(ref: PortRef): void {
    this.#clearSuspects(ref);
    this.changed();
  }

  linkFound(link: DiscoveredLink): void {
    this.#clearSuspects(link.src);
    this.#clearSuspects(link.dst);
    // A link between closed ports cannot close a loop, so it is not urgent.
    const closed = [link.src, link.dst].every((ref) => this.#applied.get(portKey(ref))?.open === false);
    if (closed) this.#recordGrowth();
    else this.changed();
  }

  #recordGrowth(): void {
    this.#dirty = true;
    this.#grew = true;
  }

  /** It is known again where the port leads. */
  #clearSuspects(ref: PortRef): void {
    const key = portKey(ref);
    for (const [id, { link }] of this.#suspects) {
      if (portKey(link.src) === key || portKey(link.dst) === key) this.#suspects.delete(id);
    }
  }

  linkRemoved(link: DiscoveredLink, reason: LinkEndReason): void {
    this.changed();
    const disconnected = [link.src, link.dst]
      .map(({ device }) => this.#switches.get(device))
      .find((sw) => !sw?.session);
    if (reason !== "timeout" || !disconnected || disconnected.closedByPeer) return;
    // Until then its broadcast probe flow has expired, and three probes have passed through it if it still forwards.
    const until = this.#clock.now() + BROADCAST_PROBE_SECONDS * 1000 + linkTimeoutMs(this.#probeIntervalMs);
    this.#suspects.set(link.id, { link, until });
  }

  /** Whether the port leads to an unreachable switch that may still forward. Such a port is not an edge. */
  isSuspect(ref: PortRef): boolean {
    const key = portKey(ref);
    for (const { link } of this.#suspects.values()) {
      if (portKey(link.src) === key || portKey(link.dst) === key) return true;
    }
    return false;
  }

  tick(now: number): void {
    for (const [id, { until }] of this.#suspects) {
      if (now < until) continue;
      this.#suspects.delete(id);
      this.changed();
    }
    if (!this.#dirty || this.#converging || now < this.#deferredUntil || this.#isStillGrowing(now)) return;
    this.#converging = true;
    this.#converge().finally(() => {
      this.#converging = false;
    });
  }

  #isStillGrowing(now: number): boolean {
    const grew = this.#grew && !this.#urgent;
    this.#grew = false;
    if (grew) this.#growingSince ??= now;
    if (grew && now - (this.#growingSince ?? now) < MAX_GROWTH_WAIT_MS) return true;
    this.#growingSince = undefined;
    return false;
  }

  async #converge(): Promise<void> {
    this.#dirty = false;
    this.#urgent = false;
    const changes = this.#ruleChanges();
    await this.#applyChanges(changes.filter(({ rule }) => !rule.open));
    // A change while the ports were closed may rule out an opening: compute again at the next tick.
    if (this.#dirty) return;
    await this.#applyChanges(changes.filter(({ rule }) => rule.open));
  }

  #ruleChanges(): RuleChange[] {
    const linkRules = this.#linkRules();
    const changes: RuleChange[] = [];
    for (const sw of this.#switches.all()) {
      if (!sw.session) continue;
      for (const port of sw.ports.values()) {
        const key = portKey({ device: sw.id, port: port.number });
        const current = this.#applied.get(key);
        const rule = this.#ruleOf(port, linkRules.get(key), current);
        if (rule && !(current && sameRule(current, rule))) changes.push({ sw, port, rule });
      }
    }
    return changes;
  }

  #ruleOf(port: SwitchPort, linkRule: Rule | undefined, current: Rule | undefined): Rule | undefined {
    if (!port.up) return CLOSED;
    if (linkRule) return linkRule;
    if (port.isEdge || !isWiredPort(port.number)) return EDGE;
    // Not classified yet. Flows from before a restart (no current rule) stay until it is.
    return current && CLOSED;
  }

  #linkRules(): Map<string, Rule> {
    const edges = this.#linkEdges();
    const forest = spanningForest(edges);
    const rules = new Map<string, Rule>();
    for (const edge of edges) {
      const open = forest.has(edge.id);
      for (const ref of edge.ports) {
        rules.set(portKey(ref), { open, link: true, mute: edge.mute && !open });
      }
    }
    return rules;
  }

  #linkEdges(): LinkEdge[] {
    const links = [...this.#links.all(), ...[...this.#suspects.values()].map(({ link }) => link)];
    const edges = new Map<string, LinkEdge>();
    for (const link of links) {
      if (!link.direct) continue;
      const ports = [link.src, link.dst].sort((a, b) => (portKey(a) < portKey(b) ? -1 : 1));
      const id = ports.map(portKey).join(" ");
      const [a = link.src, b = link.dst] = ports;
      edges.set(id, { id, a: a.device, b: b.device, ports, mute: false, ...this.#edgeState(ports) });
    }
    for (const [segment, ports] of findSegments(links.filter((link) => !link.direct))) {
      for (const ref of ports) {
        const id = portKey(ref);
        edges.set(id, { id, a: ref.device, b: segment, ports: [ref], mute: true, ...this.#edgeState([ref]) });
      }
    }
    return [...edges.values()];
  }

  #edgeState(ports: readonly PortRef[]): Pick<GraphEdge, "open" | "unreachable"> {
    return {
      open: ports.every((ref) => this.#applied.get(portKey(ref))?.open === true),
      unreachable: ports.some((ref) => !this.#switches.get(ref.device)?.session),
    };
  }

  async #applyChanges(changes: readonly RuleChange[]): Promise<void> {
    if (changes.length === 0) return;
    const affected = new Set<Switch>();
    for (const { sw, port, rule } of changes) {
      if (!sw.session) continue;
      affected.add(sw);
      for (const flow of this.#flowsFor(sw, port, rule)) sw.session.send("flowMod", flow);
      this.#setMuted(sw, port, rule.mute);
      this.#applied.set(portKey({ device: sw.id, port: port.number }), rule);
    }
    const confirmed = Promise.all([...affected].map((sw) => sw.session?.barrier()));
    const timeout = new AbortController();
    await Promise.race([confirmed, this.#clock.sleep(BARRIER_TIMEOUT_MS, timeout.signal)]);
    timeout.abort();
  }

  #flowsFor(sw: Switch, port: SwitchPort, rule: Rule): FlowMod[] {
    return ruleFlows(port.number, rule, this.#applied.get(portKey({ device: sw.id, port: port.number })));
  }

  #setMuted(sw: Switch, { number: port, description }: SwitchPort, mute: boolean): void {
    const applied = this.#applied.get(portKey({ device: sw.id, port }))?.mute;
    // Without an applied rule the flows are from before a restart; then the configuration of the port decides. With one,
    // a port that another controller muted is left alone.
    const muted = applied ?? (description.config & PORT_CONFIG.noForward) !== 0;
    if (mute === muted) return;
    const config = mute ? PORT_CONFIG.noForward : 0;
    sw.session?.send("portMod", { port, mac: description.mac, config, mask: PORT_CONFIG.noForward });
  }
}

/** Ports that receive each other's broadcast probes are on one segment. Returns each segment's name and its ports. */
function findSegments(links: readonly DiscoveredLink[]): Map<string, PortRef[]> {
  const neighbours = new Map<string, { readonly ref: PortRef; readonly others: PortRef[] }>();
  for (const { src, dst } of links) {
    for (const [ref, other] of [
      [src, dst],
      [dst, src],
    ] as const) {
      const known = neighbours.get(portKey(ref)) ?? { ref, others: [] };
      known.others.push(other);
      neighbours.set(portKey(ref), known);
    }
  }
  const segments = new Map<string, PortRef[]>();
  const visited = new Set<string>();
  for (const key of [...neighbours.keys()].sort()) {
    if (visited.has(key)) continue;
    const ports: PortRef[] = [];
    const queue = [key];
    visited.add(key);
    for (const next of queue) {
      const node = neighbours.get(next);
      if (!node) continue;
      ports.push(node.ref);
      for (const other of node.others.map(portKey)) {
        if (!visited.has(other)) queue.push(other);
        visited.add(other);
      }
    }
    segments.set(`segment ${key}`, ports);
  }
  return segments;
}
