/**
 * Requests of the command line to a cluster, over NATS. Requests and answers are signed with a key that is derived from the
 * secret of the cluster.
 *
 * A first request goes to any one node, which answers with the name of its run and the time of its own clock. The second
 * request goes to that run only, and contains that time and a nonce. The node fulfils each nonce once, and only within a
 * minute. So a replayed request changes nothing, and no two clocks are compared.
 */
import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import { IDENTITY_RULES, type MergeSettings, SOURCE_ROLES } from "../model/merge-settings.ts";
import type { NatsCluster } from "./nats/nats-cluster.ts";
import { readSignedText, signText } from "./nats/signed.ts";

/** The queue group, so that only one node answers the first request. */
const QUEUE = "nodes";
const TIMEOUT_MS = 60_000;
/** Maximum time between the two requests. */
const MAX_AGE_MS = 60_000;

const Settings = Type.Object({
  identity: Type.Array(Type.Enum([...IDENTITY_RULES])),
  sources: Type.Array(
    Type.Object({ name: Type.String(), role: Type.Enum([...SOURCE_ROLES]), merge: Type.Boolean() }),
  ),
  history: Type.Optional(Type.Object({ keepDays: Type.Number(), maxBytes: Type.Number() })),
});
const Beginning = Type.Object({ nonce: Type.String({ minLength: 16, maxLength: 64 }) });
/** The node that answers, and the time of the answer by its own clock. */
const Begun = Type.Object({ node: Type.String(), at: Type.Integer() });
const Request = Type.Object({
  nonce: Type.String({ minLength: 16, maxLength: 64 }),
  at: Type.Integer(),
  message: Type.Union([
    Type.Object({ op: Type.Literal("settings") }),
    Type.Object({ op: Type.Literal("apply"), settings: Settings }),
    Type.Object({ op: Type.Literal("forget"), source: Type.String() }),
  ]),
});
const Answer = Type.Object({
  /** The settings after the request. */
  settings: Type.Optional(Settings),
  /** The revision from which on the request applies; absent when it was refused. */
  revision: Type.Optional(Type.Integer()),
  /** The reason of a refusal, for the operator. */
  error: Type.Optional(Type.String()),
});
const [isBeginning, isBegun] = [Compile(Beginning), Compile(Begun)];
const [isRequest, isAnswer] = [Compile(Request), Compile(Answer)];

export type ClusterRequest =
  /** Reads the settings. */
  | { readonly op: "settings" }
  /** Replaces the settings. Sources that the new settings lack stay, after the others. */
  | { readonly op: "apply"; readonly settings: MergeSettings }
  | { readonly op: "forget"; readonly source: string };

export interface ClusterAnswer {
  /** Revision from which on the request applies. */
  readonly revision: number;
  /** Settings of the cluster after the request. */
  readonly settings: MergeSettings;
}

/** The error for a request that cannot be fulfilled. The message is for the operator. */
export class RequestError extends Error {
  override readonly name = "RequestError";
}

/** The key that signs requests and answers. */
const keyOf = ({ secret }: NatsCluster): Uint8Array => secret.derive("requests");

/** Encodes a name of any characters as one token of a NATS subject. */
const subjectToken = (name: string): string => Buffer.from(name).toString("base64url");

const ofNode = (subject: string, node: string): string => `${subject}.node.${subjectToken(node)}`;
/** The signing context of an answer, so that it is valid for one request only. */
const answerTo = (nonce: string): string => `answer ${nonce}`;

/** Sends a request to one node of the cluster. Rejects with `RequestError`. */
export async function sendRequest(cluster: NatsCluster, message: ClusterRequest): Promise<ClusterAnswer> {
  const subject = cluster.names.requests;
  const begun = await exchange(cluster, subject, { nonce: randomUUID() });
  if (!isBegun.Check(begun)) throw unexpected(begun);
  const { node, at } = begun;
  const read = await exchange(cluster, ofNode(subject, node), { nonce: randomUUID(), at, message });
  if (!isAnswer.Check(read)) throw unexpected(read);
  if (read.revision !== undefined && read.settings)
    return { revision: read.revision, settings: read.settings };
  throw new RequestError(read.error ?? "the node gives no reason");
}

async function exchange(
  cluster: NatsCluster,
  subject: string,
  value: { readonly nonce: string; readonly at?: number; readonly message?: ClusterRequest },
): Promise<unknown> {
  const key = keyOf(cluster);
  let text: string;
  try {
    const response = await cluster.nats.connection.request(subject, signText(key, subject, value), {
      timeout: TIMEOUT_MS,
    });
    text = response.string();
  } catch (error) {
    throw new RequestError(`no node of the cluster answers: ${errorMessage(error)}`, { cause: error });
  }
  const read = readSignedText(key, answerTo(value.nonce), text);
  if (read !== undefined) return read;
  throw otherSecret();
}

export const otherSecret = (): RequestError =>
  new RequestError(
    "the nodes of the cluster have another secret; give the cluster.secretFile that they have",
  );

const unexpected = (read: unknown): RequestError =>
  new RequestError(`an unexpected answer: ${JSON.stringify(read)}; the nodes may have another version`);

export interface AnswerOptions {
  readonly cluster: NatsCluster;
  /** The name of this run of this node. */
  readonly node: string;
  readonly clock: Clock;
  /** Carries out a request. May reject with `RequestError`. */
  readonly fulfil: (message: ClusterRequest) => Promise<ClusterAnswer>;
}

/** Answers requests until `stopping` aborts. Rejects when the node may not subscribe to them. */
export async function answerRequests(options: AnswerOptions, stopping: AbortSignal): Promise<void> {
  const { node } = options;
  const { connection } = options.cluster.nats;
  const subject = options.cluster.names.requests;
  const requests = new Requests(options);
  const failed = new AbortController();
  const signal = AbortSignal.any([stopping, failed.signal]);
  const serve = async (name: string, answer: (message: Msg) => Promise<string>, queue?: string) => {
    const subscription = connection.subscribe(name, queue === undefined ? {} : { queue });
    const stop = () => subscription.unsubscribe();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    for await (const message of subscription) {
      const text = await answer(message);
      // After a stop the connection is closed, and no answer can be sent.
      if (!connection.isClosed()) message.respond(text);
    }
  };
  try {
    await Promise.all([
      serve(subject, async (message) => requests.begin(message), QUEUE),
      serve(ofNode(subject, node), (message) => requests.fulfil(message)),
    ]);
  } finally {
    failed.abort();
  }
}

/** The answer to a refused request. It is not signed, so that a client with another secret can report that. */
const REFUSED = "";

class Requests {
  readonly #options: AnswerOptions;
  readonly #subject: string;
  readonly #key: Uint8Array;
  /** Nonces of fulfilled requests, with the times at which they began. */
  readonly #fulfilled = new Map<string, number>();

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#subject = options.cluster.names.requests;
    this.#key = keyOf(options.cluster);
  }

  begin(message: Msg): string {
    const { node } = this.#options;
    const read = readSignedText(this.#key, this.#subject, message.string());
    return isBeginning.Check(read) ? this.#answer(read.nonce, { node, at: this.#now }) : this.#refuse();
  }

  async fulfil(message: Msg): Promise<string> {
    const { node, fulfil } = this.#options;
    const read = readSignedText(this.#key, ofNode(this.#subject, node), message.string());
    if (!isRequest.Check(read) || !this.#isNew(read)) return this.#refuse();
    this.#fulfilled.set(read.nonce, read.at);
    try {
      return this.#answer(read.nonce, await fulfil(read.message));
    } catch (error) {
      return this.#answer(read.nonce, { error: errorMessage(error) });
    }
  }

  #isNew({ nonce, at }: { readonly nonce: string; readonly at: number }): boolean {
    const oldest = this.#now - MAX_AGE_MS;
    for (const [known, begunAt] of this.#fulfilled) if (begunAt < oldest) this.#fulfilled.delete(known);
    return at >= oldest && at <= this.#now && !this.#fulfilled.has(nonce);
  }

  get #now(): number {
    return Math.floor(this.#options.clock.monotonic());
  }

  #answer(nonce: string, value: unknown): string {
    return signText(this.#key, answerTo(nonce), value);
  }

  /** Refuses a request that is not signed, too old or already fulfilled. */
  #refuse(): string {
    this.#options.cluster.foreign.count("requests");
    return REFUSED;
  }
}
