/**
 * Wraps a source that runs in a thread as a `Source` for the supervisor. Reading, parsing, mapping and comparing then do not
 * block the event loop of the service; only differences arrive, in batches. Each run has a thread of its own, which ends with
 * the run.
 *
 * A lost thread (it crashed, or a message could not be read) causes a `SourceError`, and the supervisor starts another one.
 */

import type { Clock } from "../../lib/clock.ts";
import { moduleUrl } from "../../lib/program-files.ts";
import { type Sink, type Source, type SourceContext, SourceError } from "../source.ts";
import { changesIn, sendClaims, takeClaims } from "./claim-batches.ts";
import {
  type BatchReport,
  type CommitMode,
  decodeError,
  encodeError,
  type Metrics,
  type RunRequest,
  type ThreadReport,
  type ThreadRequest,
} from "./protocol.ts";

/** Time for a stopped source to close its connections and files. Then its thread is terminated. */
const STOP_TIMEOUT_MS = 1500;

interface ThreadOptions {
  /** The module that the thread runs. */
  readonly worker?: URL;
}

/** Creates the wrapper. `source` is the same source without a thread; `entry` is the entry that it was created from. */
export function createThreadedSource(
  source: Source,
  entry: Readonly<Record<string, unknown>>,
  context: SourceContext,
  { worker = moduleUrl("sources/thread/source-worker") }: ThreadOptions = {},
): Source {
  const metrics = new RunMetrics();
  return {
    name: source.name,
    metrics: () => metrics.values(),
    ...(source.check && { check: source.check.bind(source) }),
    async run(sink, signal) {
      if (signal.aborted) return;
      try {
        const request = { entry, logId: context.logId?.(), stateDir: context.stateDir };
        await new SourceThread(source.name, worker, sink, context, metrics).run(request, signal);
      } finally {
        metrics.endRun();
      }
    },
  };
}

class SourceThread {
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #log: SourceContext["log"];
  readonly #metrics: RunMetrics;
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #batches: BatchReport[] = [];
  #committing: Promise<void> = Promise.resolve();

  constructor(name: string, worker: URL, sink: Sink, { clock, log }: SourceContext, metrics: RunMetrics) {
    this.#sink = sink;
    this.#clock = clock;
    this.#log = log;
    this.#metrics = metrics;
    this.#worker = new Worker(worker.href, { name: `source ${name}` });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<ThreadReport>) => this.#onReport(data));
    this.#worker.addEventListener("messageerror", () => this.#onLost("a message could not be read"));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      log.error("source crashed", { source: name, stack: event.message });
      this.#onLost(lineOfError(event.message));
    });
    this.#worker.addEventListener("close", () => {
      this.#closed.resolve();
      this.#onLost("it ended");
    });
  }

  async run(request: Omit<RunRequest, "op" | "hasLastClaims">, signal: AbortSignal): Promise<void> {
    const stopped = new AbortController();
    const stop = () => {
      this.#post({ op: "abort" });
      void this.#clock.sleep(STOP_TIMEOUT_MS, stopped.signal).then(this.#ended.resolve);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.#post({ op: "run", ...request, hasLastClaims: this.#sink.lastClaims !== undefined });
      await this.#ended.promise;
    } finally {
      signal.removeEventListener("abort", stop);
      stopped.abort();
      await this.#terminate();
      await this.#committing;
    }
  }

  /** Terminates the thread. The wait is limited, because a thread in a long native call, such as a large parse, ends after it. */
  async #terminate(): Promise<void> {
    const closed = new AbortController();
    this.#worker.terminate();
    await Promise.race([this.#closed.promise, this.#clock.sleep(STOP_TIMEOUT_MS, closed.signal)]);
    closed.abort();
  }

  #onReport(report: ThreadReport): void {
    switch (report.op) {
      case "set":
      case "remove":
        this.#batches.push(report);
        return;
      case "discard":
        this.#batches = [];
        return;
      case "commit":
        this.#committing = this.#commit(report.mode);
        return;
      case "lastClaims":
        void this.#sendLastClaims();
        return;
      case "reject":
        for (const { kind, fault } of report.records) this.#sink.reject(kind, fault);
        return;
      case "stale":
        this.#sink.markStale(report.reason);
        return;
      case "upstream-logs":
        this.#sink.setUpstreamLogs?.(report.ids);
        return;
      case "log":
        this.#log[report.level](report.event, report.fields);
        return;
      case "metrics":
        this.#metrics.set(report.values);
        return;
      case "ended":
        if (report.error) this.#ended.reject(decodeError(report.error));
        else this.#ended.resolve();
    }
  }

  /** Commits the batches. Never rejects, because an error is sent to the source that called the sink. */
  async #commit(mode: CommitMode): Promise<void> {
    const batches = this.#batches;
    this.#batches = [];
    try {
      if (mode === "replace") await this.#sink.replace(takeClaims(batches));
      else await this.#sink.apply(await changesIn(batches));
      this.#post({ op: "committed" });
    } catch (error) {
      this.#post({ op: "committed", error: encodeError(error) });
    }
  }

  async #sendLastClaims(): Promise<void> {
    try {
      const claims = (await this.#sink.lastClaims?.()) ?? {};
      await sendClaims(claims, (batch) => this.#post(batch, [batch.json.buffer]));
      this.#post({ op: "lastClaims" });
    } catch (error) {
      this.#post({ op: "lastClaims", error: encodeError(error) });
    }
  }

  #onLost(reason: string): void {
    this.#ended.reject(new SourceError(`the thread of the source has failed: ${reason}`));
  }

  #post(request: ThreadRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer);
  }
}

/** The message of an uncaught error, which the runtime reports as an excerpt of the code, a line `error: MESSAGE` and a stack. */
const lineOfError = (text: string): string =>
  /^(?:error|\w*Error): (.+)$/m.exec(text)?.[1] ?? text.trim().split("\n", 1)[0] ?? "";

// `RunMetrics` has the metrics of a source over all its runs. Each run has a new thread, whose counters begin at zero. A
// counter (a name that ends in `_total`) continues from its value at the end of the last run.

const isCounter = (name: string): boolean => name.endsWith("_total");

class RunMetrics {
  #before: Metrics = {};
  #current: Metrics = {};

  set(values: Metrics): void {
    this.#current = values;
  }

  values(): Metrics {
    const sums = Object.entries(this.#current).map(
      ([name, value]) => [name, isCounter(name) ? value + (this.#before[name] ?? 0) : value] as const,
    );
    return { ...this.#before, ...Object.fromEntries(sums) };
  }

  endRun(): void {
    this.#before = Object.fromEntries(Object.entries(this.values()).filter(([name]) => isCounter(name)));
    this.#current = {};
  }
}
