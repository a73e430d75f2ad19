/**
 * Neighbours that send LLDP but have no OpenFlow session. When configured, each is claimed as a device with unverified
 * links. Any host can send LLDP, so texts and the number of neighbours are limited, and a neighbour is removed when its
 * time to live ends or its port goes down.
 */

import { Multimap } from "../../../lib/multimap.ts";
import { COST, forEachInSteps, type Steps } from "../../../lib/steps.ts";
import { chassisDeviceId, portNumberOfName } from "../../../model/derived-ids.ts";
import { linkId, portId } from "../../../model/ids.ts";
import type { ClaimBuffer } from "../claim-buffer.ts";
import type { Lldp } from "../codec/lldp.ts";
import { connectPoint, type PortRef } from "../codec/port.ts";
import { PortRecords } from "./port-records.ts";

const LIMITS = { perPort: 4, perSwitch: 512, total: 10_000 };
const MAX_TEXT_LENGTH = 200;
const MAX_TTL_SECONDS = 3600;

interface Neighbour {
  readonly key: string;
  readonly device: string;
  readonly port: string;
  readonly portName: string;
  readonly receivedOn: PortRef;
  expiresAt: number;
}

export class LldpNeighbours {
  readonly #claims: ClaimBuffer;
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #byPort = new PortRecords<Neighbour>(LIMITS);
  readonly #byDevice = new Multimap<string, Neighbour>();

  constructor(claims: ClaimBuffer) {
    this.#claims = claims;
  }

  lldpReceived(lldp: Lldp, receivedOn: PortRef, now: number): void {
    if (/^(dpid|of):/.test(lldp.chassis)) return; // This is a probe of another OpenFlow controller.
    const ttlSeconds = Math.min(lldp.ttlSeconds, MAX_TTL_SECONDS);
    const device = chassisDeviceId(lldp.chassis);
    const portName = lldp.port.slice(0, MAX_TEXT_LENGTH);
    const key = `${device} ${portName} ${receivedOn.key}`;
    const known = this.#neighbours.get(key);
    if (ttlSeconds === 0) {
      if (known) this.#remove(known);
      return;
    }
    const expiresAt = now + ttlSeconds * 1000;
    if (known) {
      known.expiresAt = expiresAt;
      return;
    }
    const neighbour = { key, device, port: portNumberOfName(portName), portName, receivedOn, expiresAt };
    if (!this.#byPort.add(receivedOn, neighbour)) return;
    this.#neighbours.set(key, neighbour);
    this.#byDevice.add(device, neighbour);
    this.#publish(neighbour, lldp);
  }

  portDown(ref: PortRef): void {
    for (const neighbour of this.#byPort.at(ref)) this.#remove(neighbour);
  }

  sweep(now: number): Steps<void> {
    return forEachInSteps(this.#neighbours.values(), COST.entity, (neighbour) => {
      if (now >= neighbour.expiresAt) this.#remove(neighbour);
    });
  }

  #remove(neighbour: Neighbour): void {
    const { key, device, port, receivedOn } = neighbour;
    this.#neighbours.delete(key);
    this.#byPort.remove(receivedOn, neighbour);
    this.#byDevice.remove(device, neighbour);
    const [remote, local] = [{ device, port }, connectPoint(receivedOn)];
    for (const id of [linkId(remote, local), linkId(local, remote)]) this.#claims.remove("links", id);
    const rest = this.#byDevice.of(device);
    if (!rest.values().some((other) => other.port === port))
      this.#claims.remove("ports", portId(device, port));
    if (rest.size === 0) this.#claims.remove("devices", device);
  }

  #publish({ device, port, portName, receivedOn }: Neighbour, lldp: Lldp): void {
    this.#claims.setDevice({
      id: device,
      type: "OTHER",
      available: true,
      chassisId: lldp.chassis.slice(0, MAX_TEXT_LENGTH),
      sw: lldp.text?.slice(0, MAX_TEXT_LENGTH) ?? "",
      annotations: { protocol: "LLDP", ...(lldp.name && { name: lldp.name.slice(0, MAX_TEXT_LENGTH) }) },
    });
    this.#claims.setPort({ element: device, port, isEnabled: true, annotations: { portName } });
    const remote = { device, port };
    const local = connectPoint(receivedOn);
    // LLDP is received in one direction only, but a cable carries both directions.
    this.#claims.setLink({ src: remote, dst: local, type: "DIRECT", state: "ACTIVE", verified: false });
    this.#claims.setLink({ src: local, dst: remote, type: "DIRECT", state: "ACTIVE", verified: false });
  }
}
