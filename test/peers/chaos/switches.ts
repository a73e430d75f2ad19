/** A ring of emulated switches, each with sessions to all nodes: one network, which one node rules at a time. */
import type { Device, Link } from "../../../src/model/entity.ts";
import type { EmulatedSwitch } from "../../sources/openflow/emulator.ts";
import { buildNetwork, ring } from "../../sources/openflow/topologies.ts";

const COUNT = 4;
/** No device of the other networks has such a number. */
const FIRST = 0x3000;
const RECONNECT_MS = 250;
const OPTIONS = { probeIntervalMs: 1000, graceMs: 3000, echoIntervalMs: 1000 };

export const switchSource = (port: number): object => ({
  type: "openflow",
  name: "fabric",
  forwarding: "bridge",
  listen: `127.0.0.1:${port}`,
  ...OPTIONS,
});

export class Switches {
  readonly #switches: readonly EmulatedSwitch[];
  readonly #linkIds: readonly string[];
  readonly #stopped = new AbortController();

  constructor() {
    const { net, wires } = buildNetwork(COUNT, ring(COUNT), FIRST);
    this.#switches = Array.from({ length: COUNT }, (_, n) => net.get(FIRST + 1 + n));
    this.#linkIds = wires
      .flatMap(({ a, portA, b, portB }) => [[`${a.id}/${portA}`, `${b.id}/${portB}`]])
      .flatMap(([a, b]) => [`${a}-${b}`, `${b}-${a}`])
      .sort();
  }

  /** Keeps a session to each of these ports. */
  start(ports: readonly number[]): void {
    for (const each of this.#switches) for (const port of ports) void this.#keepConnected(each, port);
  }

  async #keepConnected(each: EmulatedSwitch, port: number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      if (!each.isConnectedTo({ port })) await each.connect({ port }).catch(() => {});
      await Bun.sleep(RECONNECT_MS);
    }
  }

  get takeovers(): number {
    return new Set(
      this.#switches.flatMap(({ roleChanges }) => roleChanges.map(({ generation }) => generation)),
    ).size;
  }

  /** Changes that were accepted of a controller while another one was the master. */
  get rivalChanges(): number {
    return this.#switches.reduce((sum, each) => sum + each.rivalChanges, 0);
  }

  /** What is not as it will be: all switches are ruled, all links verified. */
  unsettled(devices: readonly Device[], links: readonly Link[]): string[] {
    const faults: string[] = [];
    for (const { id, masters } of this.#switches) {
      const device = devices.find((each) => each.id === id);
      if (!device?.available || device.role !== "MASTER")
        faults.push(`${id} is ${device?.available ? "available" : "not available"}, role ${device?.role}`);
      if (masters.length !== 1) faults.push(`${id} has ${masters.length} masters`);
    }
    const verified = links
      .filter(({ id, state, verified }) => this.#linkIds.includes(id) && state === "ACTIVE" && verified)
      .map(({ id }) => id)
      .sort();
    if (verified.join() !== this.#linkIds.join())
      faults.push(`${verified.length} of ${this.#linkIds.length} links of the switches are verified`);
    return faults;
  }

  stop(): void {
    this.#stopped.abort();
    for (const each of this.#switches) each.disconnect();
  }
}
