/**
 * Decides which switches and ports are accepted, by the allow list and by limits per peer address and for the source.
 *
 * When a limit is reached, a switch that is not known is displaced: a switch is known once it was connected for a minute.
 * Disconnected switches are displaced first. A connected one is displaced only by a known switch or, when the limit of the
 * source is reached, by a switch whose address has fewer switches. Known switches are never displaced. Switches on the allow
 * list are known and not limited, because the length of the list limits them.
 */

import type { Clock } from "../../../lib/clock.ts";
import { Quota, type QuotaScope } from "../../../lib/quota.ts";
import { TokenBuckets } from "../../../lib/token-bucket.ts";
import type { OpenflowOptions, OpenflowSettings } from "../options.ts";
import { fingerprintDigits, type PeerCertificate } from "../session/openflow-listener.ts";
import type { Session } from "../session/session.ts";
import type { Switch } from "./switch.ts";

export class SwitchAdmission {
  readonly allowList: AllowList;
  readonly devices: Quota;
  readonly ports: Quota;

  constructor(settings: OpenflowSettings) {
    this.allowList = new AllowList(settings);
    this.devices = new Quota({ perKey: settings.maxDevicesPerAddress, total: settings.maxDevices });
    this.ports = new Quota({ perKey: settings.maxPortsPerAddress, total: settings.maxPorts });
  }

  /** Returns the limit that the switch of the session would exceed. `known` is its record from an earlier session. */
  exceededBy(session: Session, known: Switch | undefined): QuotaScope | undefined {
    if (this.allowList.has(session.deviceId)) return undefined;
    const address = session.channel.remoteAddress;
    const counted = known?.address === address ? known : undefined;
    const ports = session.ports.size - (counted?.ports.size ?? 0);
    return (
      this.devices.exceededBy(address, counted ? 0 : 1) ?? this.ports.exceededBy(address, Math.max(0, ports))
    );
  }

  /** Whether another port of the switch is accepted. */
  acceptsPort({ isAllowed, address }: Switch): boolean {
    return isAllowed || this.ports.exceededBy(address) === undefined;
  }

  /** Returns the switch to displace for the switch of the session; undefined when none may be displaced. */
  findDisplaceable(
    switches: Iterable<Switch>,
    scope: QuotaScope,
    { channel: { remoteAddress: address }, deviceId }: Session,
    isKnown: boolean,
  ): Switch | undefined {
    let best: Switch | undefined;
    const most = (sw: Switch) => this.devices.of(sw.address);
    for (const sw of switches) {
      if (sw.isKnown || sw.isRemoving || sw.id === deviceId) continue;
      if (scope === "key" && sw.address !== address) continue;
      const isFairer = scope === "total" && most(sw) > this.devices.of(address) + 1;
      if (sw.session && !isKnown && !isFairer) continue;
      if (!best || goesFirst(sw, best, most)) best = sw;
    }
    return best;
  }

  /** Counts the switch and its ports for another address from now on. */
  move(sw: Switch, address: string): void {
    for (const [quota, count] of [
      [this.devices, 1],
      [this.ports, sw.ports.size],
    ] as const) {
      quota.remove(sw.address, count);
      quota.add(address, count);
    }
    sw.address = address;
  }
}

/** Whether `a` is displaced before `b`. Disconnected switches go first, then those of the address with most, then the oldest. */
function goesFirst(a: Switch, b: Switch, most: (sw: Switch) => number): boolean {
  if (!a.session !== !b.session) return !a.session;
  if (most(a) !== most(b)) return most(a) > most(b);
  return (a.disconnectedAt ?? a.connectedAt) < (b.disconnectedAt ?? b.connectedAt);
}

/**
 * The datapath ids that an operator has listed, and the certificates they are bound to. Listed switches are known from the
 * start. Unless `allowOthers` is set, no other switch is accepted.
 */
export class AllowList {
  /** The certificate by device id; undefined where none is bound. */
  readonly #certificates = new Map<string, string | undefined>();
  readonly #acceptsOthers: boolean;

  constructor(options: Pick<OpenflowOptions, "allow" | "allowOthers">) {
    for (const entry of options.allow ?? []) {
      const { id, certificate } = typeof entry === "string" ? { id: entry, certificate: undefined } : entry;
      this.#certificates.set(canonicalDeviceId(id), certificate);
    }
    this.#acceptsOthers = options.allowOthers ?? options.allow === undefined;
  }

  has(device: string): boolean {
    return this.#certificates.has(device);
  }

  /** Returns why a session of this device is not accepted; undefined when it is. */
  refusal(device: string, certificate: PeerCertificate | undefined): string | undefined {
    if (!this.has(device)) return this.#acceptsOthers ? undefined : "this datapath id is not allowed";
    const bound = this.#certificates.get(device);
    if (bound === undefined || (certificate && isBoundTo(certificate, bound))) return undefined;
    return "this datapath id is bound to another certificate";
  }

  get hasCertificates(): boolean {
    return [...this.#certificates.values()].some((certificate) => certificate !== undefined);
  }
}

function isBoundTo({ commonName, fingerprint }: PeerCertificate, bound: string): boolean {
  const [, digits] = /^sha256:(.*)$/i.exec(bound) ?? [];
  return digits === undefined ? commonName === bound : fingerprint === fingerprintDigits(digits);
}

/** Returns `of:` and 16 hexadecimal digits. The prefix may be missing in the input. */
const canonicalDeviceId = (text: string): string => `of:${text.replace(/^of:/i, "").toLowerCase()}`;

/** Maximum number of addresses with a bucket. An address whose bucket was evicted gets a full one again. */
const MAX_ADDRESSES = 100_000;
const SOURCE = "";
/** The bucket of the source refills as fast as the buckets of this many addresses together. */
const SOURCE_SHARES = 5;

type BudgetSettings = Pick<OpenflowSettings, "maxChangeRate" | "maxPortsPerAddress" | "maxPorts">;

/**
 * Limits how many records peers add, change or remove in the view, with token buckets per peer address and for the source.
 * Each change is stored in the history, so a peer that changes without end would displace the changes of others. The burst
 * allows whole networks to connect. The caller delays or refuses changes beyond the rate.
 */
export class ChangeBudget {
  readonly #ofAddress: TokenBuckets;
  readonly #ofSource: TokenBuckets;

  constructor(clock: Pick<Clock, "monotonic">, settings: BudgetSettings) {
    const refillMs = 1000 / settings.maxChangeRate;
    this.#ofAddress = new TokenBuckets(clock, {
      burst: settings.maxPortsPerAddress,
      refillMs,
      maxKeys: MAX_ADDRESSES,
    });
    this.#ofSource = new TokenBuckets(clock, {
      burst: settings.maxPorts,
      refillMs: refillMs / SOURCE_SHARES,
      maxKeys: 1,
    });
  }

  /**
   * Returns 0 when `count` changes of the switch are allowed now, otherwise the milliseconds until the next attempt. Known
   * switches use no tokens of the source, so that the changes of other switches do not limit them.
   */
  take({ address, isKnown }: Pick<Switch, "address" | "isKnown">, count = 1): number {
    const waitMs = this.#ofAddress.take(address, count);
    if (waitMs > 0 || isKnown) return waitMs;
    const sourceWaitMs = this.#ofSource.take(SOURCE, count);
    if (sourceWaitMs > 0) this.#ofAddress.giveBack(address, count);
    return sourceWaitMs;
  }
}
