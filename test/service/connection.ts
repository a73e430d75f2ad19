/**
 * One keep-alive connection to the service. The kernel chooses the process that accepts it; a test finds that process
 * in /proc. An HTTP library would pool connections, so a test could not tell which process served a request.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basic, type Service } from "../support/service.ts";

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  readonly revision: number;
}

/** The processes of the service: the writer first, then its readers. */
export function processIdsOf({ pid }: Service): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid, ...(children === "" ? [] : children.split(" ").map(Number))];
}

export class Connection {
  readonly #socket: Socket;
  readonly #port: number;
  #received = Buffer.alloc(0);
  #onData = () => {};
  ended = false;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on("data", (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data]);
      this.#onData();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.ended = true;
      this.#onData();
    });
  }

  static async open(service: Service): Promise<Connection> {
    const port = Number(new URL(service.url).port);
    const socket = connect({ port, host: "127.0.0.1" });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", () => resolve());
      socket.once("error", reject);
    });
    return new Connection(socket, port);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The process that accepted the connection: the one of `pids` that has the socket open. */
  ownerAmong(pids: readonly number[]): number | undefined {
    const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
    const [serverPort, clientPort] = [hex(this.#port), hex(this.#socket.localPort ?? 0)];
    const row = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .find(([, local, remote]) => local?.endsWith(`:${serverPort}`) && remote?.endsWith(`:${clientPort}`));
    const inode = row?.[9];
    return pids.find((pid) => openFileTargets(pid).includes(`socket:[${inode}]`));
  }

  send(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): void {
    const fields = Object.entries({ Host: "localhost", Authorization: basic("reader:secret"), ...headers });
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
    );
  }

  async get(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method = "GET",
  ): Promise<RawResponse> {
    this.send(path, headers, method);
    const head = await this.readHead();
    const isBodyless = method === "HEAD" || head.status === 304;
    return { ...head, body: isBodyless ? Buffer.alloc(0) : await this.#readBody(head.headers) };
  }

  /** Returns the status; the body of a refusal is read. */
  async openStream(path: string): Promise<number> {
    this.send(path, { Accept: "text/event-stream" });
    const { status, headers } = await this.readHead();
    if (status !== 200) await this.#readBody(headers);
    return status;
  }

  async readHead(): Promise<Omit<RawResponse, "body">> {
    const [first = "", ...lines] = (await this.#readUntil("\r\n\r\n")).toString("latin1").split("\r\n");
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    return {
      status: Number(first.split(" ")[1]),
      headers,
      revision: Number(headers.get("gazetteer-revision")),
    };
  }

  async #readBody(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    if (headers.get("transfer-encoding") !== "chunked") {
      return this.#readBytes(Number(headers.get("content-length") ?? 0));
    }
    const parts: Buffer[] = [];
    for (let chunk = await this.readChunk(); chunk.length > 0; chunk = await this.readChunk())
      parts.push(chunk);
    return Buffer.concat(parts);
  }

  /** The next chunk of a chunked body; empty at its end. */
  async readChunk(): Promise<Buffer> {
    const size = Number.parseInt((await this.#readUntil("\r\n")).toString(), 16);
    const bytes = await this.#readBytes(size);
    await this.#readBytes(2);
    return bytes;
  }

  /** The rest of a stream, until it or its connection ends. */
  async readRest(): Promise<string> {
    let text = "";
    try {
      for (let chunk = await this.readChunk(); chunk.length > 0; chunk = await this.readChunk())
        text += chunk;
    } catch (error) {
      if (!this.ended) throw error;
    }
    return text;
  }

  async #readUntil(end: string): Promise<Buffer> {
    for (;;) {
      const at = this.#received.indexOf(end);
      if (at >= 0) {
        const result = this.#received.subarray(0, at);
        this.#received = this.#received.subarray(at + end.length);
        return result;
      }
      await this.#waitForData();
    }
  }

  async #readBytes(count: number): Promise<Buffer> {
    while (this.#received.length < count) await this.#waitForData();
    const result = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return result;
  }

  async #waitForData(): Promise<void> {
    if (this.ended) throw new Error("the connection has ended");
    await new Promise<void>((resolve) => {
      this.#onData = resolve;
    });
  }
}

function openFileTargets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return []; // closed since the folder was read
      }
    });
  } catch {
    return []; // the process has ended
  }
}

const MAX_TRIES = 300;

/** One connection to each process, in the order of `pids`. */
export async function connectToEachProcess(service: Service, pids: readonly number[]): Promise<Connection[]> {
  return (await connectOften(service, pids, 1)).flat();
}

/** `count` connections to each process, in the order of `pids`. */
export async function connectOften(
  service: Service,
  pids: readonly number[],
  count: number,
): Promise<Connection[][]> {
  const found = pids.map((): Connection[] => []);
  const isComplete = () => found.every(({ length }) => length === count);
  for (let tries = 0; tries < MAX_TRIES && !isComplete(); tries++) {
    const connection = await Connection.open(service);
    // Only after a response is it certain that a process has accepted the connection.
    await connection.get("/healthz");
    const owner = connection.ownerAmong(pids);
    const ofOwner = owner === undefined ? undefined : found[pids.indexOf(owner)];
    if (!ofOwner || ofOwner.length === count) connection.close();
    else ofOwner.push(connection);
  }
  if (!isComplete())
    throw new Error(`not every process of ${pids.join(", ")} has accepted ${count} connections`);
  return found;
}
