/**
 * Finds the polled device that a neighbour is. A chassis id that the device itself reports, or that is one of its MAC
 * addresses, is proof. Another MAC address, a management address, a serial number or a name is evidence: it counts only
 * where one polled device has it, where no two chassis ids were received with it, and not against the chassis id that
 * the device itself reports.
 */

import type { AgentReport, Neighbour } from "../tables/agent-report.ts";
import { firstLabel } from "../tables/device-name.ts";
import { isOwnMac } from "../tables/values.ts";

/** A key that two reports have belongs to none. */
class UniqueIndex {
  readonly #reports = new Map<string, AgentReport | null>();

  add(key: string, report: AgentReport): void {
    const known = this.#reports.get(key);
    this.#reports.set(key, known === undefined || known === report ? report : null);
  }

  has(key: string): boolean {
    return this.#reports.has(key);
  }

  get(key: string): AgentReport | undefined {
    return this.#reports.get(key) ?? undefined;
  }
}

export class DeviceMatcher {
  readonly #byChassis = new UniqueIndex();
  readonly #byMac = new UniqueIndex();
  readonly #byEvidence = new UniqueIndex();
  /** The chassis ids that were received with each piece of evidence. */
  readonly #chassisOf = new Map<string, Set<string>>();

  constructor(reports: readonly AgentReport[]) {
    for (const report of reports) {
      const { chassis, macs, addresses, serial, name } = report.identity;
      if (chassis !== undefined) this.#byChassis.add(chassis.toLowerCase(), report);
      for (const mac of macs) this.#byMac.add(mac, report);
      for (const address of addresses) this.#byEvidence.add(`address ${address}`, report);
      if (serial !== undefined) this.#byEvidence.add(`serial ${serial.toLowerCase()}`, report);
      if (name !== undefined) for (const key of ownNameKeys(name)) this.#byEvidence.add(key, report);
      for (const neighbour of report.neighbours) this.#addReceived(neighbour);
    }
  }

  match(neighbour: Neighbour, from: AgentReport): AgentReport | undefined {
    if (neighbour.isChassisIdentity) {
      const proven =
        this.#byChassis.get(neighbour.chassis.toLowerCase()) ?? this.#byMac.get(neighbour.chassis);
      // An address that two devices have does not tell which, but excludes the others.
      if (proven || this.#byMac.has(neighbour.chassis)) return proven;
    }
    for (const mac of neighbour.macs) {
      const found = isOwnMac(mac) ? this.#byMac.get(mac) : undefined;
      if (found && this.#mayBe(found, neighbour, from)) return found;
    }
    for (const key of evidenceOf(neighbour)) {
      const found = this.#byEvidence.get(key);
      const isAmbiguous = (this.#chassisOf.get(key)?.size ?? 0) > 1;
      if (found && !isAmbiguous && this.#mayBe(found, neighbour, from)) return found;
    }
    return undefined;
  }

  #mayBe(found: AgentReport, neighbour: Neighbour, from: AgentReport): boolean {
    return found !== from && !(neighbour.isChassisIdentity && found.identity.chassis !== undefined);
  }

  #addReceived(neighbour: Neighbour): void {
    if (!neighbour.isChassisIdentity) return;
    for (const key of evidenceOf(neighbour)) {
      const ids = this.#chassisOf.get(key);
      if (ids) ids.add(neighbour.chassis);
      else this.#chassisOf.set(key, new Set([neighbour.chassis]));
    }
  }
}

function evidenceOf({ addresses, serial, name }: Neighbour): string[] {
  return [
    ...addresses.map((address) => `address ${address}`),
    ...(serial === undefined ? [] : [`serial ${serial.toLowerCase()}`]),
    ...(name === "" ? [] : receivedNameKeys(name.toLowerCase())),
  ];
}

/** A name with a domain also equals the same name without one, not that in another domain. */
const ownNameKeys = (name: string): string[] => {
  const key = name.toLowerCase();
  return key.includes(".") ? [`name ${key}`, `label ${firstLabel(key)}`] : [`name ${key}`, `bare ${key}`];
};
const receivedNameKeys = (key: string): string[] =>
  key.includes(".") ? [`name ${key}`, `bare ${firstLabel(key)}`] : [`name ${key}`, `label ${key}`];
