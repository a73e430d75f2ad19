/** Carries a plan out: each disturbance at its time, and its end. What is done is printed and kept. */
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import { CLUSTER, type Lab } from "./lab.ts";
import type { Observed } from "./observed.ts";
import { type Disturbance, describeDisturbance, type Plan } from "./plan.ts";

export class Disturber {
  readonly events: string[] = [];
  readonly #lab: Lab;
  readonly #observed: Observed;
  /** A node that takes long to start may be busy when its next disturbance is due. */
  readonly #busy = new Set<string>();

  constructor(lab: Lab, observed: Observed) {
    this.#lab = lab;
    this.#observed = observed;
  }

  /** Resolves when all disturbances have ended. */
  async run({ disturbances }: Plan): Promise<void> {
    const began = performance.now();
    const running: Promise<void>[] = [];
    for (const disturbance of disturbances) {
      await Bun.sleep(Math.max(0, disturbance.atMs - (performance.now() - began)));
      running.push(this.#disturb(disturbance));
    }
    await Promise.all(running);
  }

  async #disturb(disturbance: Disturbance): Promise<void> {
    const { on, targets, lastsMs } = disturbance;
    const keys = targets.map((target) => `${on} ${target}`);
    const text = describeDisturbance(disturbance);
    if (keys.some((key) => this.#busy.has(key)) || this.#wouldLeaveNoNode(disturbance))
      return this.#log(`left out: ${text}`);
    for (const key of keys) this.#busy.add(key);
    this.#log(text);
    try {
      const ends = await Promise.all(targets.map((target) => this.#begin(disturbance, target)));
      await Bun.sleep(lastsMs);
      await Promise.all(ends.map((end) => end()));
      if (lastsMs > 0) this.#log(`over: ${text}`);
    } catch (error) {
      this.#observed.fault(`${text}: ${error}`);
    } finally {
      for (const key of keys) this.#busy.delete(key);
    }
  }

  #wouldLeaveNoNode({ on, targets }: Disturbance): boolean {
    return on === "node" && this.#lab.nodes.every((node, n) => targets.includes(n) || !node.isUp);
  }

  #log(text: string): void {
    const line = `${this.#observed.elapsed} ${text}`;
    this.events.push(line);
    console.log(line);
  }

  /** Resolves with what ends the disturbance. */
  async #begin({ on, what }: Disturbance, target: number): Promise<() => Promise<void>> {
    const { nats, nodes } = this.#lab;
    const node = nodes[target];
    const server = nats.servers[target];
    if (!node || !server) throw new Error(`no target ${target}`);
    if (on === "server") {
      if (what === "pause") {
        server.pause();
        return async () => server.resume();
      }
      await server.kill();
      return () => server.start();
    }
    if (on === "routes") {
      for (const proxy of server.routes) {
        if (what === "cut") proxy.cut();
        else proxy.stall();
      }
      return async () => {
        for (const proxy of server.routes) proxy.open();
      };
    }
    if (on === "connections") {
      for (const proxy of node.proxies) {
        if (what === "cut") proxy.cut();
        else if (what === "stall") proxy.stall();
        else void proxy.loseAnswerTo(` ${clusterNames(CLUSTER).subject} `);
      }
      return async () => {
        if (what !== "lose-answer") for (const proxy of node.proxies) proxy.open();
      };
    }
    if (what === "pause") {
      node.pause();
      return async () => node.resume();
    }
    await node.end(what === "stop" ? "stop" : "kill");
    if (what === "empty") node.deleteData();
    return () => node.start();
  }
}
