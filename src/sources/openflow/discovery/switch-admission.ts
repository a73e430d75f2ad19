/**
 * Decides which switches and ports are accepted: the allow list, and limits per peer address before those of the source.
 *
 * When a limit is reached, a switch that was never connected longer than a minute makes room: a disconnected one first. A
 * connected one is displaced only by a switch that is known, or for the source's limit by one whose address has fewer.
 * Known switches are never displaced. Listed ones are not limited: the list is their limit.
 */

import { Quota, type QuotaScope } from "../../../lib/quota.ts";
import type { OpenflowSettings } from "../options.ts";
import type { Session } from "../session/session.ts";
import { AllowList } from "./allow-list.ts";
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

  /** Why the session is not accepted, whatever room there is. */
  refusal({ deviceId, channel }: Session): string | undefined {
    return this.allowList.refusal(deviceId, channel.certificate);
  }

  /** The limit that the switch of the session would exceed. `known` is its record from an earlier session. */
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

  /** The switch that makes room for the one of the session; undefined when none does. */
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

  /** The records of the switch count for another address from now on. */
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

/** Disconnected before connected, then those of the address with the most, then the oldest. */
function goesFirst(a: Switch, b: Switch, most: (sw: Switch) => number): boolean {
  if (!a.session !== !b.session) return !a.session;
  if (most(a) !== most(b)) return most(a) > most(b);
  return (a.disconnectedAt ?? a.connectedAt) < (b.disconnectedAt ?? b.connectedAt);
}
