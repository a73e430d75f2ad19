/** What the sources of a node have of its cluster: keys, takeovers, and channels to the node that runs a source. */
import { Channels } from "../cluster/channels.ts";
import type { Clock } from "../lib/clock.ts";
import type { SourceCluster } from "../sources/source.ts";
import type { Cluster } from "./cluster.ts";

export function createSourceCluster(
  { engine, names, log, secret, node }: Cluster,
  clock: Clock,
): SourceCluster {
  const options = {
    // A node that starts from its copy of the log may reach NATS later.
    get connection() {
      return engine.connection;
    },
    subject: names.requests,
    node,
    clock,
  };
  const channels = new Channels(options);
  let isReached = false;
  void engine.reached.then(() => {
    isReached = true;
  });
  /** By what is applied of the log: not this node, and none that has lost the source. */
  const otherHolderOf = (source: string): string | undefined =>
    log.holds(source) || !isReached ? undefined : log.holderOf(source);
  return {
    deriveKey: (purpose) => secret.derive(purpose),
    generationOf: (source) => log.generationOf(source),
    acceptChannels: (source, accept) => channels.accept(source, accept),
    connectToHolder: (source, signal) => channels.connect(source, () => otherHolderOf(source), signal),
  };
}
