/**
 * Requests to a worker thread, and the responses to them. `RequestWorker` is the side of the service, `serveRequests` that
 * of the thread. Bytes in messages are transferred, not copied. Requests reach the thread in the order in which they are
 * made; while a handler waits, the next ones run. If a thread ends unexpectedly, its requests fail with `WorkerLostError`,
 * and the next request starts another thread.
 */
import { errorMessage } from "./error-message.ts";

/** The operations of a thread: a map from the name of each to its request and response types. */
type Operations = Record<string, (request: never) => unknown>;
type RequestOf<Ops extends Operations, Name extends keyof Ops> = Parameters<Ops[Name]>[0];
type ResponseOf<Ops extends Operations, Name extends keyof Ops> = ReturnType<Ops[Name]>;

interface RequestMessage<Ops extends Operations, Name extends keyof Ops = keyof Ops> {
  readonly n: number;
  readonly operation: Name;
  readonly request: RequestOf<Ops, Name>;
}

type ReplyMessage<Ops extends Operations, Event> =
  | { readonly type: "done"; readonly n: number; readonly response: ResponseOf<Ops, keyof Ops> }
  | { readonly type: "failed"; readonly n: number; readonly reason: string }
  | { readonly type: "event"; readonly event: Event };

/** The error of a request during which the thread ended. Its outcome is unknown. */
export class WorkerLostError extends Error {
  override readonly name = "WorkerLostError";
}

export interface RequestWorkerOptions<Event> {
  /** The module that the thread runs. */
  readonly url: URL;
  /** The name of the thread, for tools that list threads. */
  readonly name: string;
  /** Whether the thread keeps the process alive while it has nothing else to do. */
  readonly ref: boolean;
  /** Called for each thread that was started, before any other request is sent to it. */
  readonly onStart?: () => void;
  readonly onEvent?: (event: Event) => void;
  /** Called when a thread has ended unexpectedly, after its requests have failed. */
  readonly onLost?: (reason: string) => void;
}

interface Waiting<Response> {
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

export class RequestWorker<Ops extends Operations, Event = never> {
  readonly #options: RequestWorkerOptions<Event>;
  readonly #waiting = new Map<number, Waiting<ResponseOf<Ops, keyof Ops>>>();
  #worker: Worker | undefined;
  #lastNumber = 0;
  #started = 0;

  constructor(options: RequestWorkerOptions<Event>) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Number of threads that were started so far. */
  get started(): number {
    return this.#started;
  }

  /** Starts a thread where none runs. */
  start(): void {
    if (this.#worker) return;
    const { url, name, ref, onStart } = this.#options;
    const worker = new Worker(url.href, { name, ref });
    worker.addEventListener("message", ({ data }: MessageEvent<ReplyMessage<Ops, Event>>) =>
      this.#onReply(data),
    );
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#onLost(worker, errorMessage(event.message));
    });
    worker.addEventListener("close", () => this.#onLost(worker, "the thread ended"));
    this.#worker = worker;
    this.#started++;
    onStart?.();
  }

  /** Rejects with the error of the handler, with `WorkerLostError`, or if the request cannot be sent. */
  request<Name extends keyof Ops>(
    operation: Name,
    request: RequestOf<Ops, Name>,
    transfer: ArrayBuffer[] = [],
  ): Promise<ResponseOf<Ops, Name>> {
    this.start();
    const n = ++this.#lastNumber;
    const message: RequestMessage<Ops, Name> = { n, operation, request };
    return new Promise((resolve, reject) => {
      this.#worker?.postMessage(message, transfer);
      this.#waiting.set(n, { resolve, reject });
    });
  }

  /** Ends the thread. Its requests fail with `WorkerLostError`. */
  stop(reason: string): void {
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new WorkerLostError(reason));
  }

  #onReply(reply: ReplyMessage<Ops, Event>): void {
    if (reply.type === "event") {
      this.#options.onEvent?.(reply.event);
      return;
    }
    const waiting = this.#waiting.get(reply.n);
    this.#waiting.delete(reply.n);
    if (reply.type === "done") waiting?.resolve(reply.response);
    else waiting?.reject(new Error(reply.reason));
  }

  #onLost(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return;
    this.stop(reason);
    this.#options.onLost?.(reason);
  }
}

declare const self: Worker;

type Handlers<Ops extends Operations> = {
  readonly [Name in keyof Ops]: (
    request: RequestOf<Ops, Name>,
  ) => ResponseOf<Ops, Name> | Promise<ResponseOf<Ops, Name>>;
};

/**
 * Responds to requests in this thread. An error in a handler fails its request; an error outside of one ends the thread.
 * Returns a function that sends an event to the service. A response of bytes must have a buffer of its own, which is
 * transferred.
 */
export function serveRequests<Ops extends Operations, Event = never>(
  handlers: Handlers<Ops>,
): (event: Event) => void {
  const send = (message: ReplyMessage<Ops, Event>, transfer: ArrayBuffer[] = []): void =>
    self.postMessage(message, transfer);
  const respond = async <Name extends keyof Ops>({ n, operation, request }: RequestMessage<Ops, Name>) => {
    try {
      const response = await handlers[operation](request);
      const isBytes = response instanceof Uint8Array && response.buffer instanceof ArrayBuffer;
      send({ type: "done", n, response }, isBytes ? [response.buffer] : []);
    } catch (error) {
      send({ type: "failed", n, reason: errorMessage(error) });
    }
  };
  self.onmessage = ({ data }: MessageEvent<RequestMessage<Ops>>) => {
    void respond(data);
  };
  return (event) => send({ type: "event", event });
}
