/**
 * The nodes and NATS servers of a cluster that are lost, as far as this node knows, with the time since when. They stay listed
 * until they return, a node for seven days at most, also while NATS cannot be read. A node that stops in order is not lost.
 */
import type { NatsCluster } from "../../cluster/nats/nats-cluster.ts";
import { readNodes, type SeenNode } from "../../cluster/nodes.ts";
import type { Clock } from "../../lib/clock.ts";
import { createPoll } from "../../lib/poll.ts";
import type { LogStream, StreamFollower } from "../../log/jetstream/log-stream.ts";
import type { LostMember } from "../../model/readiness.ts";

const READ_INTERVAL_MS = 10_000;

export class LostMembers {
  #nodes: readonly LostMember[] = [];
  /** The times since which servers are offline, by name. */
  #servers: ReadonlyMap<string, number> = new Map();

  get all(): readonly LostMember[] {
    return [...this.#nodes, ...this.servers.map((server) => ({ kind: "server" as const, ...server }))];
  }

  get servers(): readonly { readonly name: string; readonly since: number }[] {
    return Array.from(this.#servers, ([name, since]) => ({ name, since }));
  }

  /** Reads the list of nodes and the state of the stream at intervals until `signal` aborts. */
  async run(cluster: NatsCluster, stream: LogStream, clock: Clock, signal: AbortSignal): Promise<void> {
    await createPoll({ intervalMs: READ_INTERVAL_MS, clock, signal }).run(async () => {
      // While NATS cannot be read, what is known stays.
      await Promise.allSettled([
        readNodes(cluster, clock).then((nodes) => this.observeNodes(nodes)),
        stream.info().then(({ followers }) => this.observeServers(followers, clock.now())),
      ]);
    });
  }

  observeNodes(nodes: readonly Pick<SeenNode, "nodeName" | "lostSince">[]): void {
    this.#nodes = nodes.flatMap(({ nodeName, lostSince }) =>
      lostSince === undefined ? [] : [{ kind: "node" as const, name: nodeName, since: lostSince }],
    );
  }

  /** A leader that was elected after a server was lost does not know since when, so that the first time stays. */
  observeServers(
    followers: readonly Pick<StreamFollower, "name" | "isOffline" | "silentMs">[],
    now: number,
  ): void {
    this.#servers = new Map(
      followers
        .filter(({ isOffline }) => isOffline)
        .map(({ name, silentMs }) => [name, this.#servers.get(name) ?? Math.round(now - silentMs)]),
    );
  }
}
