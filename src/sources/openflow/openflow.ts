/**
 * The OpenFlow source: switches connect here, and the network they form is claimed.
 *
 * A start is gentle. What was claimed before the last end (told by the sink where it remembers) stands for `graceMs`:
 * a switch that comes back meanwhile simply goes on, one that does not is then called unavailable, and its links and
 * hosts end. Without such memory the old claims stand untouched for the same time and are then replaced by what came
 * back. On failure nothing is said: what was claimed stays, and the supervisor calls it stale.
 */
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Sink, Source } from "../source.ts";
import type { ClaimBook } from "./claim-buffer.ts";
import { Network } from "./controller.ts";
import { Recollection } from "./graceful-restart.ts";
import { type OpenflowOptions, type Settings, settingsOf } from "./options.ts";
import { listen } from "./transport.ts";

const TICK_MS = 100;

export function createOpenflowSource(
  options: OpenflowOptions & { name: string },
  context: { readonly clock: Clock; readonly log: Logger },
): Source {
  const { name, ...given } = options;
  return new OpenflowSource(name, settingsOf(given), context.clock, context.log);
}

class OpenflowSource implements Source {
  readonly name: string;
  #settings: Settings;
  readonly #clock: Clock;
  readonly #log: Logger;
  #network: Network | undefined;
  /** What an earlier run of this process had claimed. */
  #lastBook: ClaimBook | undefined;

  constructor(name: string, settings: Settings, clock: Clock, log: Logger) {
    this.name = name;
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
  }

  metrics(): Readonly<Record<string, number>> {
    const network = this.#network;
    if (!network) return {};
    return {
      sessions: network.sessions,
      switches: network.switches.size,
      links: network.links.size,
      hosts: network.hosts.size,
      ...network.counters.all(),
    };
  }

  async run(sink: Sink, signal: AbortSignal): Promise<void> {
    const earlier = this.#lastBook?.all() ?? (await sink.recall?.());
    const network = new Network(this.#settings, this.#clock, this.#log);
    const now = this.#clock.now();
    const recollection = new Recollection(network, earlier ?? {}, now, now + this.#settings.graceMs);
    const listener = listen(this.#settings, (channel) => network.accept(channel));
    // A free port that was found once is kept: switches come back to where they were.
    this.#settings = { ...this.#settings, port: listener.port };
    this.#network = network;
    this.#log.info(`openflow listening on ${shownHost(listener.host)}:${listener.port}`, {
      source: this.name,
    });
    const life = new AbortController();
    const end = () => life.abort();
    signal.addEventListener("abort", end, { once: true });
    try {
      // Either says "I am here" at once; only the first may say "and nothing else is".
      if (earlier) await network.book.replace(sink);
      else await sink.apply([]);
      await Promise.all([
        network.book.tell(sink, this.#clock, life.signal),
        this.#tickUntil(network, life.signal),
        this.#afterGrace(network, recollection, sink, earlier === undefined, life.signal),
      ]).finally(end);
    } finally {
      this.#lastBook = network.book;
      signal.removeEventListener("abort", end);
      listener.stop();
    }
  }

  async #tickUntil(network: Network, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(TICK_MS, signal);
      if (!signal.aborted) network.tick();
    }
  }

  async #afterGrace(
    network: Network,
    recollection: Recollection,
    sink: Sink,
    replace: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#clock.sleep(this.#settings.graceMs, signal);
    if (signal.aborted) return;
    recollection.end(this.#clock.now());
    if (replace) await network.book.replace(sink);
  }
}

const shownHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);
