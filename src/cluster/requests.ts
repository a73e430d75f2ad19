/**
 * Requests of the command line to a cluster, over NATS: any one of its nodes answers. They are not signed, unlike what is in
 * the log: the account of NATS is the authorization, and whoever may publish on this subject may change the settings.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { errorMessage } from "../lib/error-message.ts";
import { IDENTITY_RULES, type MergeSettings, SOURCE_ROLES } from "../model/merge-settings.ts";

/** One node answers, not all. */
const QUEUE = "nodes";
const TIMEOUT_MS = 60_000;

const Settings = Type.Object({
  identity: Type.Array(Type.Enum([...IDENTITY_RULES])),
  sources: Type.Array(
    Type.Object({ name: Type.String(), role: Type.Enum([...SOURCE_ROLES]), merge: Type.Boolean() }),
  ),
  history: Type.Optional(Type.Object({ keepDays: Type.Number(), maxBytes: Type.Number() })),
});
const Request = Type.Union([
  Type.Object({ op: Type.Literal("settings") }),
  Type.Object({ op: Type.Literal("apply"), settings: Settings }),
  Type.Object({ op: Type.Literal("forget"), source: Type.String() }),
]);
const Answer = Type.Object({
  /** After the request. */
  settings: Type.Optional(Settings),
  /** Absent when the request was refused. */
  revision: Type.Optional(Type.Integer()),
  /** For the operator. */
  error: Type.Optional(Type.String()),
});
const [request, answer] = [Compile(Request), Compile(Answer)];

export type ClusterRequest =
  /** Changes nothing. */
  | { readonly op: "settings" }
  /** Sources that the settings lack stay, after the others. */
  | { readonly op: "apply"; readonly settings: MergeSettings }
  | { readonly op: "forget"; readonly source: string };

export interface ClusterAnswer {
  /** From which on the request applies. */
  readonly revision: number;
  /** Of the cluster, after the request. */
  readonly settings: MergeSettings;
}

/** The request cannot be fulfilled. The message is for the operator. */
export class RequestError extends Error {
  override readonly name = "RequestError";
}

/** Rejects with `RequestError`. */
export async function sendRequest(
  connection: NatsConnection,
  subject: string,
  message: ClusterRequest,
): Promise<ClusterAnswer> {
  let text: string;
  try {
    const response = await connection.request(subject, JSON.stringify(message), { timeout: TIMEOUT_MS });
    text = response.string();
  } catch (error) {
    throw new RequestError(`no node of the cluster answers: ${errorMessage(error)}`, { cause: error });
  }
  const read = parse(text);
  if (answer.Check(read) && read.revision !== undefined && read.settings)
    return { revision: read.revision, settings: read.settings };
  throw new RequestError(answer.Check(read) ? (read.error ?? text) : `an unexpected answer: ${text}`);
}

/** Answers requests until `signal` aborts. `fulfil` may reject with `RequestError`. */
export async function answerRequests(
  connection: NatsConnection,
  subject: string,
  fulfil: (message: ClusterRequest) => Promise<ClusterAnswer>,
  signal: AbortSignal,
): Promise<void> {
  const requests = connection.subscribe(subject, { queue: QUEUE });
  const stop = () => requests.unsubscribe();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  for await (const message of requests) {
    const answer = await answerOf(message.string(), fulfil);
    // After a stop there is nobody to answer by.
    if (!connection.isClosed()) message.respond(JSON.stringify(answer));
  }
}

async function answerOf(
  text: string,
  fulfil: (message: ClusterRequest) => Promise<ClusterAnswer>,
): Promise<ClusterAnswer | { readonly error: string }> {
  const read = parse(text);
  if (!request.Check(read)) return { error: "an unknown request; the nodes may have another version" };
  try {
    return await fulfil(read);
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
