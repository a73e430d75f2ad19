/**
 * The ports of joined devices within one commit: maps a port of a source to the port of the entity. The ports in the claims
 * are matched once for each touched device (`port-matching.ts`), in steps (`prepare`), before anything that refers to them
 * is placed or merged.
 *
 * Matching reads all ports of a device. The result is kept for later commits if this commit changes neither the joined
 * devices nor the values by which their ports are matched, because then it is valid whether the commit succeeds or not.
 */
import { sameJson } from "../../lib/same-json.ts";
import { COST, Pause, type Steps } from "../../lib/steps.ts";
import { canonicalMac } from "../../model/address.ts";
import { type ClaimTypes, type PortClaim, referencedDevices } from "../../model/claim.ts";
import { type ConnectPoint, deviceKey, type Kind, portId } from "../../model/ids.ts";
import { parseClaimsKey } from "../indexes.ts";
import {
  MAC_ANNOTATIONS,
  type MatchablePort,
  matchPorts,
  NAME_ANNOTATIONS,
  type PortNumbers,
} from "../port-matching.ts";
import type { SourcedClaim, TouchedEntity } from "../touched-entity.ts";
import { parseStored, type View } from "../view.ts";
import type { WorkingSet } from "../working-set.ts";
import type { DeviceGroups } from "./device-groups.ts";

type PortEntity = TouchedEntity<"ports">;

export class JoinedPorts {
  readonly #view: View;
  readonly #groups: DeviceGroups;
  readonly #ports: WorkingSet<"ports">;
  /** The port numbers by entity; undefined for a device with one id. */
  readonly #numbers = new Map<string, PortNumbers | undefined>();
  /** The ports whose claims this commit changes, by the device id in the claims. */
  readonly #changed = new Map<string, Set<PortEntity>>();
  /** The entities of which this commit changes the joined devices or the values by which their ports are matched. */
  readonly #rematched = new Set<string>();

  constructor(view: View, groups: DeviceGroups, ports: WorkingSet<"ports">) {
    this.#view = view;
    this.#groups = groups;
    this.#ports = ports;
  }

  /** The entity and number of a port. Its device must have been prepared. */
  resolve(device: string, port: string): ConnectPoint {
    if (!this.#groups.isActive) return { device: deviceKey(device), port };
    const key = deviceKey(device);
    const entity = this.#groups.entityOf(key);
    return { device: entity, port: this.#numbers.get(entity)?.numberOf(key, port) ?? port };
  }

  /** Matches the ports of the devices that the claims refer to. */
  *prepare<K extends Kind>(claims: readonly SourcedClaim<K>[]): Steps<void> {
    if (!this.#groups.isActive) return;
    for (const { claim } of claims)
      for (const device of referencedDevices(claim)) yield* this.#prepareDevice(deviceKey(device));
  }

  *#prepareDevice(key: string): Steps<void> {
    const entity = this.#groups.entityOf(key);
    if (this.#numbers.has(entity)) return;
    const members = this.#groups.membersOf(entity);
    this.#numbers.set(entity, members.length > 1 ? yield* this.#numbersOf(entity, members) : undefined);
  }

  *#numbersOf(entity: string, members: readonly string[]): Steps<PortNumbers> {
    const { portNumbers } = this.#view;
    const known = portNumbers.get(entity);
    if (known && sameJson(known.devices, members)) return known;
    const numbers = yield* this.#match(members, "claims");
    if (!this.#rematched.has(entity)) portNumbers.set(entity, numbers);
    return numbers;
  }

  #markRematched(entity: string): void {
    this.#rematched.add(entity);
    this.#view.portNumbers.delete(entity);
  }

  /**
   * The entities of joined devices whose port numbers differ since the claims of the commit were set. `regrouped` are the
   * devices that lost or got claims.
   */
  *findRenumbered(regrouped: Iterable<TouchedEntity<"devices">>): Steps<ReadonlySet<string>> {
    const renumbered = new Set<string>();
    if (!this.#groups.isActive) return renumbered;
    for (const { key } of regrouped) this.#markRematched(key);
    for (const entity of this.#ports.pending) {
      if (entity.claims === entity.claimsBefore) continue;
      for (const { claim } of [...entity.claims, ...entity.claimsBefore]) {
        const device = deviceKey(claim.element);
        const changed = this.#changed.get(device) ?? new Set();
        this.#changed.set(device, changed.add(entity));
      }
    }
    for (const [device, entities] of this.#changed) {
      const entity = this.#groups.entityOf(device);
      if (renumbered.has(entity) || ![...entities].some(changesMatching)) continue;
      this.#markRematched(entity);
      const members = this.#groups.membersOf(entity);
      if (members.length < 2) continue;
      yield* this.#prepareDevice(device);
      const before = yield* this.#match(members, "claimsBefore");
      const after = this.#numbers.get(entity);
      if (!after || !(yield* after.equals(before))) renumbered.add(entity);
    }
    return renumbered;
  }

  *#match(members: readonly string[], which: "claims" | "claimsBefore"): Steps<PortNumbers> {
    const ports = new Map(members.map((member) => [member, new Map<string, MatchablePort>()]));
    const pause = new Pause();
    for (const entity of yield* this.#entitiesOf(members)) {
      for (const { claim } of entity[which]) {
        const listed = ports.get(deviceKey(claim.element));
        const number = String(claim.port);
        listed?.set(number, withFacts(listed.get(number), claim));
      }
      if (pause.due(COST.entity)) yield;
    }
    return yield* matchPorts(
      [...ports].map(([device, byNumber]) => ({ device, ports: [...byNumber.values()] })),
    );
  }

  /** The entities with the ports of the devices, before the commit and with its changes. */
  *#entitiesOf(members: readonly string[]): Steps<ReadonlySet<PortEntity>> {
    const found = new Set<PortEntity>();
    const view = this.#view;
    const pause = new Pause();
    for (const member of members) {
      for (const entity of this.#changed.get(member) ?? []) found.add(entity);
      for (const stored of view.indexes("claims").named("portsOf").get(member)) {
        const key = parseClaimsKey(stored)?.key;
        if (key !== undefined) found.add(this.#ports.entity(key));
        if (pause.due(COST.entity)) yield;
      }
      const shown = view.spelledId("devices", member);
      for (const { text } of view.range("ports", portId(shown, ""), portId(shown, "\uffff"))) {
        const { element, port } = parseStored("ports", text);
        if (element === shown) found.add(this.#ports.entity(portId(element, port)));
        if (pause.due(COST.entity)) yield;
      }
    }
    return found;
  }
}

const LOGICAL_PORT = /^\D/;

/** The values by which a port is matched, including those that another source claims for the same port of the same device. */
function withFacts(
  known: MatchablePort | undefined,
  { element, port, annotations = {} }: PortClaim,
): MatchablePort {
  const number = String(port);
  const macs = MAC_ANNOTATIONS.flatMap((key) => canonicalMac(annotations[key] ?? "") ?? []);
  const names = NAME_ANNOTATIONS.flatMap((key) => portName(element, annotations[key]));
  // "local" means the same port for every source.
  if (LOGICAL_PORT.test(number)) names.push(number);
  return {
    number,
    macs: unique([...(known?.macs ?? []), ...macs.filter((mac) => mac !== NO_MAC)]),
    names: unique([...(known?.names ?? []), ...names]),
  };
}

const NO_MAC = "00:00:00:00:00:00";

/** The name of a port without the device id that may precede it, as in `s1:eth0`. */
function portName(element: string, text: string | undefined): string[] {
  const name = text?.trim().toLowerCase() ?? "";
  const prefix = deviceKey(element);
  const isQualified = name.startsWith(`${prefix}:`) || name.startsWith(`${prefix}/`);
  const own = isQualified ? name.slice(prefix.length + 1) : name;
  return own === "" ? [] : [own];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

/** Whether other ports are claimed, or the same ports with another MAC address or name. */
function changesMatching({ claims, claimsBefore }: PortEntity): boolean {
  const facts = (sourced: readonly SourcedClaim<"ports">[]): string =>
    JSON.stringify(
      sourced
        .map(({ claim }) => [deviceKey(claim.element), withFacts(undefined, claim)])
        .map((fact) => JSON.stringify(fact))
        .sort(),
    );
  return facts(claims) !== facts(claimsBefore);
}

/** The key of the entity that a claim belongs to. */
export function placeOf(ports: JoinedPorts, claim: ClaimTypes["ports" | "links"]): string {
  const at = (device: string, port: string | number): string => {
    const { device: entity, port: number } = ports.resolve(device, String(port));
    return portId(entity, number);
  };
  if ("element" in claim) return at(claim.element, claim.port);
  return `${at(claim.src.device, claim.src.port)}-${at(claim.dst.device, claim.dst.port)}`;
}
