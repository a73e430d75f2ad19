/**
 * The messages between the writer and its reader processes, one JSON line each. The writer sends the start message, users,
 * limits, certificates and the stop to a reader's standard input; the reader reports on its standard output. Both are
 * anonymous pipes, so no other process can read or write them.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { ROLES } from "../api/auth/users-file.ts";
import { ProcessMetrics } from "../api/metrics/process-metrics.ts";
import { Configuration, type Immutable, Limits } from "../config/schema.ts";

/** The part of the configuration that a server needs. */
const ReaderConfiguration = Type.Pick(Configuration, [
  "host",
  "aliases",
  "onos",
  "cors",
  "trustedProxies",
  "auth",
  "hosts",
  "accessLog",
  "logFormat",
]);

const ReaderUser = Type.Object({
  name: Type.String(),
  hash: Type.String(),
  role: Type.Enum([...ROLES]),
  credentialId: Type.String(),
});

/** The PEM texts. Readers do not read the files, so that all processes change their certificate at the same time. */
const ReaderTls = Type.Object({
  cert: Type.String(),
  key: Type.String(),
  clientCa: Type.Optional(Type.String()),
});

/** The state for the header Gazetteer-Stale. It has no time while the view is up to date. */
const ReaderCluster = Type.Object({ staleSince: Type.Optional(Type.Number()) });

const ReaderStart = Type.Object({
  /** The number of the process within the service; the writer is 1. */
  reader: Type.Integer({ minimum: 2 }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  /** The Unix socket on which the writer serves its readers, and the password of the internal user there. */
  socket: Type.String(),
  password: Type.String(),
  /** Name and key (base64) of the writer's log: entity tags and cursors are derived from them. */
  epoch: Type.String(),
  secret: Type.String(),
  config: ReaderConfiguration,
  limits: Limits,
  tls: Type.Optional(ReaderTls),
  cluster: Type.Optional(ReaderCluster),
});
export type ReaderStart = Immutable<Type.Static<typeof ReaderStart>>;

/** A message of the writer. The first one has `start` and `users`. */
const WriterMessage = Type.Object({
  start: Type.Optional(ReaderStart),
  /** All users. Sent whenever any of them changes. */
  users: Type.Optional(Type.Array(ReaderUser)),
  /** The limits for clients. Sent after each reload of the configuration. */
  limits: Type.Optional(Limits),
  /** The request to open the access log again, because it may have been renamed. Sent after SIGHUP. */
  reopenAccessLog: Type.Optional(Type.Boolean()),
  /** The certificate. Sent whenever it changes. */
  tls: Type.Optional(ReaderTls),
  /** The state of the cluster's view. Sent whenever the view becomes stale or is up to date again. */
  cluster: Type.Optional(ReaderCluster),
  stop: Type.Optional(Type.Boolean()),
});
export type WriterMessage = Immutable<Type.Static<typeof WriterMessage>>;

const ReaderMessage = Type.Object({
  listening: Type.Optional(Type.Boolean()),
  /** The metrics of the reader. */
  metrics: Type.Optional(ProcessMetrics),
});
export type ReaderMessage = Immutable<Type.Static<typeof ReaderMessage>>;

const writerMessage = Compile(WriterMessage);
const readerMessage = Compile(ReaderMessage);

export function parseWriterMessage(value: unknown): WriterMessage {
  if (writerMessage.Check(value)) return value;
  throw new Error("malformed message from the writer");
}

export function parseReaderMessage(value: unknown): ReaderMessage {
  if (readerMessage.Check(value)) return value;
  throw new Error("malformed message from a reader");
}
