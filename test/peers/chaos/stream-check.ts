/**
 * Reads the log that the engine has, after the run: it has nothing but what nodes accept; every change was written by the node
 * that ran its source then, by the takeovers before it; nothing that a source says went back; and what was shown of a revision
 * is what the log has.
 */

import { connectNats } from "../../../src/cluster/nats/nats-client.ts";
import { clusterNames } from "../../../src/cluster/nats/nats-cluster.ts";
import type { ClusterSecret } from "../../../src/cluster/nats/sealed.ts";
import { BatchAssembler } from "../../../src/log/jetstream/batch-assembler.ts";
import { openIdentity } from "../../../src/log/jetstream/identity.ts";
import { LogStream } from "../../../src/log/jetstream/log-stream.ts";
import { readMessage, type StreamMessage, signatureIn } from "../../../src/log/jetstream/messages.ts";
import { firstPosition } from "../../../src/log/jetstream/position.ts";
import type { Batch, LogEntry } from "../../../src/log/log.ts";
import { readSecret } from "../../../src/service/cluster/open-cluster.ts";
import { type ChurnedSource, FIELDS, isChurned, SOURCES, sourceOf } from "./churn.ts";
import { CLUSTER, type Lab } from "./lab.ts";
import { SERVERS } from "./plan.ts";

/** Messages before one that is no part of the log. */
const SHOWN_BEFORE = 3;

export interface StreamFindings {
  readonly faults: readonly string[];
  /** Messages of writers that had applied something else than the stream has. */
  readonly losses: readonly string[];
  readonly messages: number;
  readonly batches: number;
  readonly takeovers: number;
  readonly lastRevision: number;
}

/** The batches and takeovers of the log. */
async function* readLog(
  lab: Lab,
): AsyncGenerator<{ message: StreamMessage; batch?: Batch; source?: string; isForeign: boolean }> {
  const client = await connectNats({ servers: lab.nats.urls.split(","), clientName: "chaos" });
  try {
    const log = new LogStream({ nats: client, names: clusterNames(CLUSTER), replicas: SERVERS });
    const { firstSequence, lastSequence } = await log.info();
    const end = new AbortController();
    let assembler: BatchAssembler | undefined;
    for await (const message of log.follow(firstSequence, end.signal)) {
      assembler ??= assemblerFrom(message, readSecret({ cluster: lab.nats }));
      const foreign = assembler?.foreign ?? 0;
      const accepted = await assembler?.accept(message);
      if (accepted?.type === "unusable") throw accepted.error;
      yield {
        message,
        ...(accepted?.type === "batch" && { batch: accepted.batch }),
        ...(accepted?.type === "takeover" && { source: accepted.source }),
        // Wanted turns, and parts of a batch, are no part of what is read here, and not foreign either.
        isForeign: assembler === undefined || assembler.foreign > foreign,
      };
      if (message.sequence >= lastSequence) break;
    }
    end.abort();
  } finally {
    await client.close();
  }
}

/** From the base, with which the stream begins: a run is too short for it to be purged. */
function assemblerFrom(message: StreamMessage, secret: ClusterSecret): BatchAssembler | undefined {
  const read = readMessage(message);
  if (read.type !== "base") return undefined;
  const position = firstPosition("", signatureIn(message));
  return new BatchAssembler(openIdentity(secret, read), read.revision, position);
}

export async function checkStream(lab: Lab): Promise<StreamFindings> {
  const faults: string[] = [];
  const losses: string[] = [];
  const recent: string[] = [];
  const holders = new Map<string, string>();
  const values = new Map<string, string>();
  const takeovers: string[] = [];
  let [messages, batches, lastRevision] = [0, 0, 0];
  for await (const { message, batch, source, isForeign } of readLog(lab)) {
    messages++;
    const writer = message.headers?.get("Gazetteer-Node") ?? "";
    if (source !== undefined) {
      takeovers.push(`${message.sequence} ${source} by ${writer}`);
      holders.set(source, writer);
    }
    if (isForeign)
      losses.push(
        `message ${message.sequence} is no part of the log: ${headersOf(message)}; before it: ${recent.join("; ")}`,
      );
    recent.push(`${message.sequence}: ${headersOf(message)}`);
    if (recent.length > SHOWN_BEFORE) recent.shift();
    if (!batch) continue;
    batches++;
    lastRevision = batch.revision;
    const at = `revision ${batch.revision} (message ${message.sequence})`;
    for (const churned of SOURCES) {
      const entry = batch.entries.find((each) => sourcesOf(each).includes(churned));
      const holder = holders.get(churned);
      if (entry && holder !== writer)
        faults.push(
          `${at} by ${writer} changes ${churned}, which ${holder} runs: ${JSON.stringify(entry)}; takeovers: ${takeovers.join(", ")}`,
        );
    }
    for (const entry of batch.entries)
      for (const [key, value] of valuesOf(entry)) {
        const before = values.get(key) ?? "";
        if (value < before) faults.push(`${at}: ${key} goes back from ${before} to ${value}`);
        values.set(key, value);
      }
  }
  return { faults, losses, messages, batches, takeovers: takeovers.length, lastRevision };
}

/** A writer that was not where it thought shows itself by a message that the nodes ignore. */
const headersOf = ({ headers }: StreamMessage): string =>
  [...(headers?.keys() ?? [])].map((name) => `${name}=${headers?.get(name)}`).join(" ");

/** Whose change an entry is, where the entry shows it. */
function sourcesOf({ kind, id, before, after, changed }: LogEntry): ChurnedSource[] {
  if (kind === "hosts") return [sourceOf(id)].filter((source) => source !== undefined);
  if (kind !== "devices" || before === null || after === null || !isChurned(id)) return [];
  return SOURCES.filter((source) => changed.includes(FIELDS[source]));
}

function valuesOf({ kind, id, after }: LogEntry): [key: string, value: string][] {
  if (kind !== "devices" || after === null || !isChurned(id)) return [];
  const device = JSON.parse(after) as Readonly<Record<string, unknown>>;
  return (
    SOURCES.map((source) => FIELDS[source])
      // A device that this source has not reported yet has a default.
      .filter((field) => /^\d+$/.test(String(device[field])))
      .map((field) => [`${field} of ${id}`, String(device[field])])
  );
}
