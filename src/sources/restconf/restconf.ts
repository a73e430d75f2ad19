/**
 * The `restconf` source: lists the topologies of a RESTCONF server in intervals, and at once when OpenDaylight's stream
 * of changes signals one. Each list replaces the one before, so that what vanishes there is removed here.
 */
import { createPollLoop, type PollResult } from "../poll-loop.ts";
import { checkOf, type Sink, type Source, type SourceContext } from "../source.ts";
import { Upstream } from "../upstream/upstream.ts";
import { ChangeStream } from "./change-stream.ts";
import { DEFAULT_GRACE_SECONDS, DEFAULT_INTERVAL_SECONDS, type RestconfOptions } from "./options.ts";
import { NETWORK_TOPOLOGY } from "./parse-networks.ts";
import { NetworkReader } from "./read-network.ts";
import { RestartGrace } from "./restart-grace.ts";
import { RestconfClient } from "./restconf-client.ts";

export function createRestconfSource(
  options: RestconfOptions & { name: string },
  context: SourceContext,
): Source {
  return new RestconfSource(options, context);
}

class RestconfSource implements Source {
  readonly name: string;
  readonly #options: RestconfOptions;
  readonly #context: SourceContext;
  readonly #counters = {
    polls_total: 0,
    polls_failed_total: 0,
    stream_connected: 0,
    stream_events_total: 0,
    stream_breaks_total: 0,
  };

  constructor(options: RestconfOptions & { name: string }, context: SourceContext) {
    this.name = options.name;
    this.#options = options;
    this.#context = context;
  }

  metrics = () => ({ ...this.#counters });

  check = async () => checkOf(await this.#createUpstream().checkFiles());

  async run(sink: Sink, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const client = new RestconfClient(this.#createUpstream());
    const reader = new NetworkReader(client);
    const grace = new RestartGrace((this.#options.restartGraceSeconds ?? DEFAULT_GRACE_SECONDS) * 1000);
    const intervalMs = (this.#options.intervalSeconds ?? DEFAULT_INTERVAL_SECONDS) * 1000;
    const loop = createPollLoop({ sink, intervalMs, clock, signal });
    const path = `/${NETWORK_TOPOLOGY.root}`;
    const changes = new ChangeStream({ client, path, clock, signal, onChange: loop.nudge }, this.#counters);
    try {
      await loop.run(async () => {
        const result = await this.#poll(reader, grace, sink, signal);
        if (result.ok) changes.ensureOpen();
        else changes.reset();
        return result;
      });
    } finally {
      await changes.ended();
    }
  }

  async #poll(
    reader: NetworkReader,
    grace: RestartGrace,
    sink: Sink,
    signal: AbortSignal,
  ): Promise<PollResult> {
    this.#counters.polls_total++;
    const result = await reader.read((kind, fault) => sink.reject(kind, fault), signal);
    if (signal.aborted) return { ok: true };
    if (!result.ok) {
      this.#counters.polls_failed_total++;
      grace.onFailure();
      return result;
    }
    const reason = grace.check(result.claims, this.#context.clock.monotonic());
    // The server responds, so the next poll is not delayed as after a failure.
    if (reason === undefined) await sink.replace(result.claims);
    else sink.markStale(reason);
    return { ok: true };
  }

  #createUpstream(): Upstream {
    return new Upstream(this.#options, this.#context);
  }
}
