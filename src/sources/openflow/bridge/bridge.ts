/**
 * The bridge: connects hosts through the switches' own NORMAL forwarding without loops. Each port is open or closed for
 * received frames. Edge ports open once they have settled. Links form a graph whose spanning forest is open. The other
 * links are closed at both ends: a switch floods out of all its ports, so only the receiving side can be controlled.
 * A bridge without an OpenFlow session cannot be controlled, so it is a node of the graph too. A port to it that is not in
 * the forest is closed and also muted (port-mod, OFPPC_NO_FWD).
 *
 * Ports are closed before others open. In each component of the graph, ports open only after the switches have confirmed
 * the closings there (barrier), so that there is never a loop and no component waits for another. A switch that has
 * confirmed nothing since it connected, or not in time, is not waited for, and none of its ports is opened.
 *
 * Rules change only when the state of the network is known. A switch that became unreachable may still forward, so its
 * links stay in the graph until it is known whether it does. After a start, switches with flows from before the start keep
 * them until all switches had time to connect.
 *
 * The rules are computed in steps. A change during the computation may cancel openings in the same component of the graph,
 * but in no other, so switches that change all the time do not affect networks that they are not connected to.
 */
import type { Clock } from "../../../lib/clock.ts";
import { Multimap } from "../../../lib/multimap.ts";
import type { Scheduler } from "../../../lib/scheduler.ts";
import { COST, forEachInSteps, Pause, type Steps } from "../../../lib/steps.ts";
import { UnionFind } from "../../../lib/union-find.ts";
import { isWiredPort, PORT_CONFIG, type PortRef } from "../codec/port.ts";
import {
  type DiscoveredLink,
  type LinkEndReason,
  type LinkTable,
  linkTimeoutMs,
} from "../discovery/link-table.ts";
import type { Switch, SwitchPort } from "../discovery/switch.ts";
import type { SwitchTable } from "../discovery/switch-table.ts";
import { BROADCAST_PROBE_SECONDS, type PortRule, ruleFlows } from "../flows.ts";
import type { Session } from "../session/session.ts";
import { type Forest, spanningForest, type TreeEdge } from "./spanning-tree.ts";

interface Rule extends PortRule {
  /** Whether the switch sends nothing out of the port. */
  readonly mute: boolean;
}
const CLOSED: Rule = { open: false, link: false, mute: false };
const EDGE: Rule = { open: true, link: false, mute: false };
const sameRule = (a: Rule, b: Rule) => a.open === b.open && a.link === b.link && a.mute === b.mute;

/** An edge of the graph, and the ports that are open when it is in the forest. */
interface LinkEdge extends TreeEdge {
  readonly ports: readonly PortRef[];
  /** Whether its ports are muted when it is not in the forest. */
  readonly mute: boolean;
}

interface RuleChange {
  readonly sw: Switch;
  readonly port: SwitchPort;
  readonly rule: Rule;
}

/** Openings in one component that wait until sessions of this component have confirmed their closings. */
interface HeldOpenings {
  readonly changes: RuleChange[];
  readonly waiting: Set<Session>;
}

const BARRIER_TIMEOUT_MS = 2000;
/** The owner of the bridge's computations on the scheduler. */
const OWNER = "bridge";
/** While switches and links are added at every tick, the computation of the forest is delayed by at most this time. */
const MAX_GROWTH_WAIT_MS = 500;

export class Bridge {
  readonly #switches: SwitchTable;
  readonly #links: LinkTable;
  readonly #clock: Clock;
  readonly #scheduler: Scheduler;
  readonly #probeIntervalMs: number;
  readonly #applied = new Map<string, Rule>();
  readonly #unreachableLinks = new UnreachableLinks();
  /** The switches with changes since the rules were last computed. */
  #touched = new Set<string>();
  /** Sessions that have replied to a barrier. A session is removed when it does not confirm closings in time. */
  readonly #confirmed = new WeakSet<Session>();
  /** The last barrier of each session. Only the reply to the last one confirms everything that was sent. */
  readonly #lastBarriers = new WeakMap<Session, object>();
  /** Confirmed sessions that were sent closings and have not replied yet, with the time until which they are waited for. */
  readonly #closing = new Map<Session, number>();
  /** Held openings, by the root of their component. A new convergence drops them and computes them again. */
  #held = new Map<string, HeldOpenings>();
  /** The number of convergences that have begun. */
  #generation = 0;
  /** Returns the root of a switch's component in the forest that was computed last. */
  #rootOf: Forest["rootOf"] = (device) => device;
  #deferredUntil = 0;
  #dirty = false;
  #converging = false;
  /** Set after a change other than an addition: the forest must be computed at the next tick. */
  #urgent = false;
  /** Set after additions since the last tick: a forest computed now would soon be outdated. */
  #grew = false;
  #growingSince: number | undefined;

  constructor(
    switches: SwitchTable,
    links: LinkTable,
    clock: Clock,
    scheduler: Scheduler,
    probeIntervalMs: number,
  ) {
    this.#switches = switches;
    this.#links = links;
    this.#clock = clock;
    this.#scheduler = scheduler;
    this.#probeIntervalMs = probeIntervalMs;
  }

  /** To be called when these switches, or their ports or links, have changed. */
  changed(...devices: readonly string[]): void {
    this.#dirty = true;
    this.#urgent = true;
    for (const device of devices) this.#touched.add(device);
  }

  /** Prevents changes of rules before this time. */
  deferUntil(time: number): void {
    this.#deferredUntil = Math.max(this.#deferredUntil, time);
  }

  /** To be called for each port of a switch that connects. */
  portConnected(sw: Switch, { ref: { key } }: SwitchPort): void {
    if ((sw.session?.inheritedFlows ?? 0) > 0) this.#applied.delete(key);
    else this.#applied.set(key, CLOSED);
    this.#recordGrowth(sw.id);
  }

  /** To be called after the base flows were sent. Ports of the switch may open once it has confirmed these flows. */
  sessionReady(session: Session): void {
    this.#sendBarrier(session);
  }

  portDown(ref: PortRef): void {
    this.#unreachableLinks.clear(ref);
    this.changed(ref.device);
  }

  portRemoved(ref: PortRef): void {
    this.#applied.delete(ref.key);
  }

  linkFound({ src, dst }: DiscoveredLink): void {
    this.#unreachableLinks.clear(src);
    this.#unreachableLinks.clear(dst);
    // A link between closed ports cannot close a loop, so it is not urgent.
    const closed = [src, dst].every((ref) => this.#applied.get(ref.key)?.open === false);
    if (closed) this.#recordGrowth(src.device, dst.device);
    else this.changed(src.device, dst.device);
  }

  #recordGrowth(...devices: readonly string[]): void {
    this.#dirty = true;
    this.#grew = true;
    for (const device of devices) this.#touched.add(device);
  }

  linkRemoved(link: DiscoveredLink, reason: LinkEndReason): void {
    this.changed(link.src.device, link.dst.device);
    // A switch that has not connected since a restart is not in the table yet, but it may still forward.
    const isUnreachable = [link.src, link.dst]
      .map(({ device }) => this.#switches.get(device))
      .some((sw) => !sw?.session && sw?.closedByPeer !== true);
    if (reason !== "timeout" || !isUnreachable) return;
    // By this time its broadcast probe flow has expired. If the switch still forwards, three probes have passed through it.
    const until =
      this.#clock.monotonic() + BROADCAST_PROBE_SECONDS * 1000 + linkTimeoutMs(this.#probeIntervalMs);
    this.#unreachableLinks.add(link, until);
  }

  /** Whether the port leads to an unreachable switch that may still forward. Such a port is not an edge. */
  leadsToUnreachable(ref: PortRef): boolean {
    return this.#unreachableLinks.has(ref);
  }

  tick(now: number): void {
    for (const [session, deadline] of this.#closing) {
      if (now < deadline) continue;
      this.#confirmed.delete(session);
      this.#release(session);
    }
    for (const { src, dst } of this.#unreachableLinks.takeExpired(now)) this.changed(src.device, dst.device);
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
    this.#touched = new Set();
    this.#held = new Map();
    this.#generation++;
    const changes = await this.#scheduler.run(OWNER, this.#ruleChanges());
    const closings = changes.filter(({ rule }) => !rule.open);
    if (closings.length > 0) await this.#scheduler.run(OWNER, this.#sendClosings(closings));
    const openings = this.#holdOpenings(changes.filter(({ rule }) => rule.open));
    if (openings.length > 0) await this.#scheduler.run(OWNER, this.#sendOpenings(openings));
  }

  /** Keeps the openings in components with closings that are not confirmed yet, and returns the others. */
  #holdOpenings(openings: readonly RuleChange[]): RuleChange[] {
    const waitingByRoot = Map.groupBy(this.#closing.keys(), ({ deviceId }) => this.#rootOf(deviceId));
    return openings.filter((change) => {
      const root = this.#rootOf(change.sw.id);
      const waiting = waitingByRoot.get(root);
      if (!waiting) return true;
      const held = this.#held.get(root) ?? { changes: [], waiting: new Set(waiting) };
      held.changes.push(change);
      this.#held.set(root, held);
      return false;
    });
  }

  /** Sends a barrier. Its reply confirms everything that was sent to the session before. */
  #sendBarrier(session: Session): void {
    const barrier = {};
    this.#lastBarriers.set(session, barrier);
    void session.barrier().then(() => {
      if (this.#lastBarriers.get(session) !== barrier) return;
      // The ports of the switch may open from now on, so the rules are computed again.
      if (!this.#confirmed.has(session)) this.#recordGrowth(session.deviceId);
      this.#confirmed.add(session);
      this.#release(session);
    });
  }

  /** Stops waiting for the session, and sends the openings that waited for no other session. */
  #release(session: Session): void {
    this.#closing.delete(session);
    for (const [root, { changes, waiting }] of this.#held) {
      if (!waiting.delete(session) || waiting.size > 0) continue;
      this.#held.delete(root);
      void this.#scheduler.run(OWNER, this.#sendOpenings(changes));
    }
  }

  *#ruleChanges(): Steps<RuleChange[]> {
    const rules = yield* this.#linkRules();
    const changes: RuleChange[] = [];
    const pause = new Pause();
    for (const sw of this.#switches.all()) {
      if (!sw.session) continue;
      for (const port of sw.ports.values()) {
        const current = this.#applied.get(port.ref.key);
        const rule = this.#ruleOf(port, rules.get(port.ref.key), current);
        if (rule && !(current && sameRule(current, rule))) changes.push({ sw, port, rule });
        if (pause.due(COST.record)) yield;
      }
    }
    return changes;
  }

  #ruleOf(port: SwitchPort, linkRule: Rule | undefined, current: Rule | undefined): Rule | undefined {
    if (!port.up) return CLOSED;
    if (linkRule) return linkRule;
    if (port.isEdge || !isWiredPort(port.number)) return EDGE;
    // The port is not classified yet. Flows from before a restart (no current rule) stay until it is.
    return current && CLOSED;
  }

  *#linkRules(): Steps<Map<string, Rule>> {
    const edges = yield* this.#linkEdges();
    const { chosen, rootOf } = yield* spanningForest(edges);
    this.#rootOf = rootOf;
    const rules = new Map<string, Rule>();
    yield* forEachInSteps(edges, COST.record, (edge) => {
      const open = chosen.has(edge.id);
      for (const ref of edge.ports) rules.set(ref.key, { open, link: true, mute: edge.mute && !open });
    });
    return rules;
  }

  *#linkEdges(): Steps<LinkEdge[]> {
    const links = [...this.#links.all(), ...this.#unreachableLinks.links()];
    const edges = new Map<string, LinkEdge>();
    // A segment is a set of ports that receive each other's broadcast probes: a bridge without OpenFlow connects them.
    const segments = new UnionFind<string>();
    const segmentPorts = new Map<string, PortRef>();
    const pause = new Pause();
    for (const link of links) {
      if (pause.due(COST.record)) yield;
      if (!link.direct) {
        segments.union(link.src.key, link.dst.key);
        for (const ref of [link.src, link.dst]) segmentPorts.set(ref.key, ref);
        continue;
      }
      const ports = [link.src, link.dst].sort((a, b) => (a.key < b.key ? -1 : 1));
      const id = ports.map(({ key }) => key).join(" ");
      const [a = link.src, b = link.dst] = ports;
      edges.set(id, { id, a: a.device, b: b.device, ports, mute: false, ...this.#edgeState(ports) });
    }
    for (const [id, ref] of segmentPorts) {
      if (pause.due(COST.record)) yield;
      const segment = `segment ${segments.find(id)}`;
      edges.set(id, { id, a: ref.device, b: segment, ports: [ref], mute: true, ...this.#edgeState([ref]) });
    }
    return [...edges.values()];
  }

  #edgeState(ports: readonly PortRef[]): Pick<TreeEdge, "open" | "unreachable"> {
    return {
      open: ports.every((ref) => this.#applied.get(ref.key)?.open === true),
      unreachable: ports.some((ref) => !this.#switches.get(ref.device)?.session),
    };
  }

  *#sendClosings(changes: readonly RuleChange[]): Steps<void> {
    const mustConfirm = new Set<Session>();
    const pause = new Pause();
    for (const change of changes) {
      if (pause.due(COST.record)) yield;
      const { session } = change.sw;
      const mayForward = this.#mayForward(change);
      if (session && this.#send(change) && mayForward) mustConfirm.add(session);
    }
    const deadline = this.#clock.monotonic() + BARRIER_TIMEOUT_MS;
    for (const session of mustConfirm) {
      if (this.#confirmed.has(session)) this.#closing.set(session, deadline);
      this.#sendBarrier(session);
    }
  }

  /** Whether the port could be part of a loop until the closing is confirmed. */
  #mayForward({ port, rule }: RuleChange): boolean {
    const applied = this.#applied.get(port.ref.key);
    // Without an applied rule there may be flows from before a restart.
    return port.up && (applied?.open !== false || (rule.mute && !applied.mute));
  }

  /** Sends openings, except in components that changed since: their rules are computed again at the next tick. */
  *#sendOpenings(changes: readonly RuleChange[], generation = this.#generation): Steps<void> {
    const touchedRoots = () => new Set(Array.from(this.#touched, (device) => this.#rootOf(device)));
    let touched = touchedRoots();
    const pause = new Pause();
    for (const change of changes) {
      if (pause.due(COST.record)) {
        yield;
        touched = touchedRoots();
      }
      if (generation !== this.#generation) return;
      if (!touched.has(this.#rootOf(change.sw.id)) && this.#isConfirmed(change.sw)) this.#send(change);
    }
  }

  #isConfirmed({ session }: Switch): boolean {
    return session !== undefined && this.#confirmed.has(session);
  }

  /** Returns whether the change was sent. It is not sent to a switch without a session or for a port that was removed. */
  #send({ sw, port, rule }: RuleChange): boolean {
    const { session } = sw;
    if (!session || sw.ports.get(port.number) !== port) return false;
    const applied = this.#applied.get(port.ref.key);
    for (const flow of ruleFlows(port.number, rule, applied)) session.send("flowMod", flow);
    // Without an applied rule the flows are from before a restart, so the configuration of the port shows whether it is
    // muted. With an applied rule the configuration is ignored, so a port that another controller muted stays muted.
    const { mac, config } = port.description;
    const isMuted = applied?.mute ?? (config & PORT_CONFIG.noForward) !== 0;
    if (rule.mute !== isMuted) {
      const bits = rule.mute ? PORT_CONFIG.noForward : 0;
      session.send("portMod", { port: port.number, mac, config: bits, mask: PORT_CONFIG.noForward });
    }
    this.#applied.set(port.ref.key, rule);
    return true;
  }
}

interface UnreachableLink {
  readonly link: DiscoveredLink;
  readonly until: number;
}

/** Removed links of unreachable switches that may still forward, and the ports at their ends. */
class UnreachableLinks {
  readonly #links = new Map<string, UnreachableLink>();
  readonly #byPort = new Multimap<string, string>();

  add(link: DiscoveredLink, until: number): void {
    this.#links.set(link.id, { link, until });
    for (const ref of [link.src, link.dst]) this.#byPort.add(ref.key, link.id);
  }

  /** Whether the port leads to an unreachable switch that may still forward. */
  has(ref: PortRef): boolean {
    return this.#byPort.has(ref.key);
  }

  /** To be called when it is known again where the port leads. Removes the links at the port. */
  clear(ref: PortRef): void {
    for (const id of this.#byPort.of(ref.key)) this.#remove(id);
  }

  links(): DiscoveredLink[] {
    return Array.from(this.#links.values(), ({ link }) => link);
  }

  /** Removes and returns the expired links. All have the same time to live, so the first ones expire first. */
  takeExpired(now: number): DiscoveredLink[] {
    const expired: DiscoveredLink[] = [];
    for (const [id, { link, until }] of this.#links) {
      if (now < until) break;
      this.#remove(id);
      expired.push(link);
    }
    return expired;
  }

  #remove(id: string): void {
    const known = this.#links.get(id);
    this.#links.delete(id);
    if (!known) return;
    for (const ref of [known.link.src, known.link.dst]) this.#byPort.remove(ref.key, id);
  }
}
