/** Nodes of a cluster without the service around them: log, view and committer, on real NATS servers. */
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger } from "../../src/lib/logger.ts";
import type { JetStreamLog } from "../../src/log/jetstream/jetstream-log.ts";
import { LogStream } from "../../src/log/jetstream/log-stream.ts";
import { openJetStreamLog } from "../../src/log/jetstream/open.ts";
import { connectEngine, type Engine } from "../../src/nats/engine.ts";
import { clusterNames } from "../../src/nats/names.ts";
import { ClusterSecret } from "../../src/nats/sealed.ts";
import { Committer } from "../../src/view/committer.ts";
import { restoreView } from "../../src/view/restore.ts";
import type { NatsServers } from "../support/nats-servers.ts";

const NAME = "test";
const SECRET = new ClusterSecret(Buffer.from("the secret of the tests"));

export interface LogNode extends AsyncDisposable {
  readonly log: JetStreamLog;
  readonly committer: Committer;
  readonly engine: Engine;
  /** Resolves once everything that the stream has is visible here. */
  caughtUp(): Promise<void>;
}

export async function openNode(
  servers: NatsServers,
  node: string,
  options: { readonly path?: string; readonly replicas?: number; readonly sources?: readonly string[] } = {},
): Promise<LogNode> {
  const { path = ":memory:", replicas = 1, sources = ["a", "b"] } = options;
  const engine = await connectEngine({ servers: servers.urls.split(","), clientName: node });
  const { stream, subject } = clusterNames(NAME);
  const logger = createLogger(() => "error");
  const signal = new AbortController().signal;
  const log = await openJetStreamLog({
    stream: new LogStream(engine, { stream, subject, replicas }),
    path,
    node,
    secret: SECRET,
    clock: systemClock,
    logger,
    signal,
  });
  const { view } = restoreView(log);
  const settings = {
    identity: [],
    sources: sources.map((name) => ({ name, role: "observed" as const, merge: true })),
  };
  const committer = new Committer(view, log, systemClock, settings);
  log.start();
  return {
    log,
    committer,
    engine,
    caughtUp: async () => {
      await log.caughtUp(signal);
      await committer.runBetweenCommits("test", (function* () {})());
    },
    async [Symbol.asyncDispose]() {
      await log.close();
      await engine.close();
    },
  };
}
