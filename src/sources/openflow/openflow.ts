/**
 * The `openflow` source: accepts OpenFlow sessions from switches and claims the network they form.
 *
 * After a start the claims of the last run, if the sink stores them, are restored for `graceMs`. A switch that reconnects
 * within that time keeps its claims. One that does not becomes unavailable, and its links and hosts are removed. Without
 * stored claims the view keeps the old ones for the same time, then the claims of the reconnected switches replace them.
 *
 * In a cluster only the node that runs the source listens. A takeover is like a restart.
 */
import { CertificateError, CertificateFiles } from "../../lib/certificate-files.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import { createPoll } from "../../lib/poll.ts";
import { canonicalMac } from "../../model/address.ts";
import type { Claims, HostClaim } from "../../model/claim.ts";
import { type Sink, type Source, type SourceCluster, type SourceContext, SourceError } from "../source.ts";
import type { ClaimBuffer } from "./claim-buffer.ts";
import { PORT, type PortRef, portRef } from "./codec/port.ts";
import { AllowList } from "./discovery/switch-admission.ts";
import { firstActivity, LearnedHost } from "./hosts/learned-host.ts";
import { OpenflowController } from "./openflow-controller.ts";
import { createOpenflowCounters } from "./openflow-counters.ts";
import { type OpenflowOptions, type OpenflowSettings, resolveSettings } from "./options.ts";
import { listen, type OpenflowListener } from "./session/openflow-listener.ts";

const TICK_INTERVAL_MS = 100;
/** The longest time between two readings of the clock that counts. The ticks read it ten times a second. */
const MAX_GAP_MS = 500;

/**
 * The time in which this process ran. While a machine is paused, moved or overloaded, replies arrive but are not read, so
 * that time must not end sessions, links or hosts.
 */
class RunningTime implements Clock {
  readonly #clock: Clock;
  #readAt: number;
  #lostMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#readAt = clock.monotonic();
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    const now = this.#clock.monotonic();
    this.#lostMs += Math.max(0, now - this.#readAt - MAX_GAP_MS);
    this.#readAt = now;
    return now - this.#lostMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}

export function createOpenflowSource(
  options: OpenflowOptions & { name: string },
  context: Pick<SourceContext, "clock" | "log" | "cluster">,
): Source {
  const { name, ...rest } = options;
  return new OpenflowSource(name, resolveSettings(rest), context);
}

export class OpenflowSource implements Source {
  readonly name: string;
  #settings: OpenflowSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #cluster: () => SourceCluster | undefined;
  readonly #counters = createOpenflowCounters();
  /** Set while the source runs. */
  #controller: OpenflowController | undefined;
  /** The claims of the previous run in this process. */
  #previousClaims: ClaimBuffer | undefined;

  constructor(
    name: string,
    settings: OpenflowSettings,
    { clock, log, cluster = () => undefined }: Pick<SourceContext, "clock" | "log" | "cluster">,
  ) {
    this.name = name;
    this.#settings = settings;
    this.#clock = new RunningTime(clock);
    this.#log = log;
    this.#cluster = cluster;
  }

  metrics(): Readonly<Record<string, number>> {
    const controller = this.#controller;
    return {
      ...(controller && {
        sessions: controller.sessions,
        switches: controller.switches.size,
        links: controller.links.size,
        hosts: controller.hosts.size,
      }),
      ...this.#counters.all(),
    };
  }

  async run(sink: Sink, signal: AbortSignal): Promise<void> {
    const certificates = await this.#openCertificates();
    const cluster = this.#cluster();
    const previous = this.#previousClaims?.all() ?? (await sink.lastClaims?.());
    const controller = new OpenflowController(
      this.#settings,
      this.#clock,
      this.#log,
      this.#counters,
      cluster && {
        probeKey: cluster.deriveKey(`openflow probes ${this.name}`),
        generation: cluster.generationOf(this.name),
      },
    );
    const now = this.#clock.monotonic();
    const endGrace = restoreClaims(controller, previous ?? {}, now, now + this.#settings.graceMs);
    const listener = this.#listen(certificates, controller);
    this.#controller = controller;
    const run = new AbortController();
    const abortRun = () => run.abort();
    signal.addEventListener("abort", abortRun, { once: true });
    try {
      // Both calls mark the source as synced. Without stored claims nothing may be replaced before the grace period ends.
      if (previous) await controller.claims.sendAll(sink);
      else await sink.apply([]);
      await Promise.all([
        controller.claims.sendChanges(sink, this.#clock, run.signal),
        this.#runTicks(controller, listener, run.signal),
        certificates?.run(run.signal),
        this.#waitForGrace(run.signal, async () => {
          endGrace(this.#clock.monotonic());
          if (!previous) await controller.claims.sendAll(sink);
        }),
      ]).finally(abortRun);
    } finally {
      // In a cluster another node may run the source before the next run here, so these claims would be outdated.
      if (!cluster) this.#previousClaims = controller.claims;
      signal.removeEventListener("abort", abortRun);
      listener.stop();
      this.#controller = undefined;
    }
  }

  #listen(certificates: CertificateFiles | undefined, controller: OpenflowController): OpenflowListener {
    const listener = listen(
      this.#settings,
      certificates && (() => certificates.current),
      (channel, descriptorsAreLow) => controller.accept(channel, descriptorsAreLow),
      this.#log,
    );
    // A free port that the system has chosen is used again in the next run, so that the switches can reconnect.
    this.#settings = { ...this.#settings, port: listener.port };
    this.#log.info(`openflow listening on ${bracketIpv6(listener.host)}:${listener.port}`, {
      source: this.name,
    });
    return listener;
  }

  async #openCertificates(): Promise<CertificateFiles | undefined> {
    const { tls } = this.#settings;
    if (tls?.ca === undefined && new AllowList(this.#settings).hasCertificates)
      throw new SourceError("a certificate in allow needs tls.ca, which verifies it");
    try {
      return tls && (await CertificateFiles.open(tls, this.#clock, this.#log));
    } catch (error) {
      throw error instanceof CertificateError ? new SourceError(error.message) : error;
    }
  }

  #runTicks(controller: OpenflowController, listener: OpenflowListener, signal: AbortSignal): Promise<void> {
    return createPoll({ intervalMs: TICK_INTERVAL_MS, clock: this.#clock, signal }).run(async () => {
      listener.checkDescriptors();
      await controller.tick();
    });
  }

  async #waitForGrace(signal: AbortSignal, end: () => Promise<void>): Promise<void> {
    const endsAt = this.#clock.monotonic() + this.#settings.graceMs;
    for (let leftMs = this.#settings.graceMs; leftMs > 0 && !signal.aborted; ) {
      await this.#clock.sleep(leftMs, signal);
      leftMs = endsAt - this.#clock.monotonic();
    }
    if (!signal.aborted) await end();
  }
}

const bracketIpv6 = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/**
 * Restores the claims from before a restart. Links stay until the grace period ends, unless probes confirm them. Hosts
 * stay at their locations and are probed once their port has settled. The caller runs the returned function at the end of
 * the grace period. A device that did not reconnect until then is marked unavailable, and is from then on handled like any
 * other disconnected device.
 */
function restoreClaims(
  { claims, switches, links, hosts }: OpenflowController,
  previous: Claims,
  now: number,
  graceEndsAt: number,
): (now: number) => void {
  // LLDP neighbours are not restored, because they send LLDP again.
  const devices = [...(previous.devices ?? [])].filter(({ id }) => id.startsWith("of:"));
  for (const claim of devices) claims.setDevice(claim);
  for (const claim of previous.ports ?? []) if (claim.element.startsWith("of:")) claims.setPort(claim);
  for (const { src, dst, type, verified } of previous.links ?? []) {
    if (!verified) continue;
    const [from, to] = [parsePortRef(src.device, src.port), parsePortRef(dst.device, dst.port)];
    if (from && to) links.restore(from, to, type !== "INDIRECT", graceEndsAt);
  }
  const hostPorts: PortRef[] = [];
  for (const claim of previous.hosts ?? []) {
    const host = restoreHost(claim, now);
    if (!host || !hosts.restore(host)) continue;
    claims.setHost(claim);
    hostPorts.push(...host.locations.map(({ ref }) => ref));
  }
  return (graceEndedAt) => {
    for (const claim of devices) switches.restoreDisconnected(claim, graceEndedAt);
    // The switch may have reconnected without this port, or with the port down.
    for (const ref of hostPorts)
      if (!switches.get(ref.device)?.ports.get(ref.port)?.up) hosts.removeHostsAt(ref, true);
  };
}

function restoreHost(claim: HostClaim, now: number): LearnedHost | undefined {
  const mac = canonicalMac(claim.mac);
  const refs = claim.locations
    .map(({ elementId, port }) => parsePortRef(elementId, port))
    .filter((ref) => ref !== undefined);
  if (mac === undefined || refs.length === 0) return undefined;
  const [vlan, innerVlan, tpid] = [claim.vlan, claim.innerVlan, claim.outerTpid].map(Number);
  const host = new LearnedHost(mac, {
    ...(isTag(vlan) && { vlan }),
    ...(isTag(innerVlan) && { innerVlan }),
    ...(isTag(tpid) && { tpid }),
  });
  host.locations = refs.map((ref) => ({ ref, ...firstActivity(now) }));
  for (const ip of claim.ipAddresses ?? []) host.addresses.set(ip, firstActivity(now));
  return host;
}

/** Whether the number of a VLAN or of a tag protocol is that of a tag. Texts such as `None` are no numbers. */
const isTag = (number: number | undefined): number is number => number !== undefined && number > 0;

function parsePortRef(device: string, port: string | number): PortRef | undefined {
  if (!/^of:[0-9a-f]{16}$/.test(device)) return undefined;
  return portRef(device, port === "local" ? PORT.local : Number(port));
}
