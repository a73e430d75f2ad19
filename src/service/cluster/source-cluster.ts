/** What the sources of a node have of its cluster: keys, takeovers, and channels to the node that runs a source. */
import { Channels } from "../../cluster/channels.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SourceCluster } from "../../sources/source.ts";
import type { Cluster } from "./open-cluster.ts";

export function createSourceCluster(
  { engine, names, log, secret, node, foreign }: Cluster,
  clock: Clock,
): SourceCluster {
  const channels = new Channels({
    // Read when it is used: a node may start before NATS is reached.
    get connection() {
      return engine.connection;
    },
    subject: names.requests,
    node,
    key: secret.derive("channels"),
    clock,
    onForeign: () => foreign.count("channels"),
  });
  /** By what is applied of the log: not this node, and none that has lost the source. */
  const otherHolderOf = (source: string): string | undefined =>
    log.holds(source) || !engine.isConnected ? undefined : log.holderOf(source);
  return {
    deriveKey: (purpose) => secret.derive(purpose),
    generationOf: (source) => log.generationOf(source),
    acceptChannels: (source, accept) => channels.accept(source, accept),
    connectToHolder: (source, signal) => channels.connect(source, () => otherHolderOf(source), signal),
  };
}
