/**
 * One connection to the service, held open: which process answers on it is for the kernel to choose, and is looked up
 * in /proc. A library would pool connections, and a test could not say to whom it spoke.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basic, type Service } from "../support/service.ts";

export interface Reply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  readonly revision: number;
}

/** The processes that answer: the writer, then its readers. */
export function processesOf({ pid }: Service): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid, ...(children === "" ? [] : children.split(" ").map(Number))];
}

export class Connection {
  readonly #socket: Socket;
  readonly #port: number;
  #received = Buffer.alloc(0);
  #wake = () => {};
  ended = false;

  private constructor(socket: Socket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on("data", (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data]);
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.ended = true;
      this.#wake();
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

  /** Whose connection it is at the other end. */
  owner(among: readonly number[]): number | undefined {
    const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
    const [here, there] = [hex(this.#port), hex(this.#socket.localPort ?? 0)];
    const row = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .find(([, local, remote]) => local?.endsWith(`:${here}`) && remote?.endsWith(`:${there}`));
    const inode = row?.[9];
    return among.find((pid) => linksOf(pid).includes(`socket:[${inode}]`));
  }

  send(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): void {
    const lines = Object.entries({ Host: "localhost", Authorization: basic("reader:secret"), ...headers });
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
    );
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Reply> {
    this.send(path, headers, method);
    const head = await this.head();
    const bodiless = method === "HEAD" || head.status === 304;
    return { ...head, body: bodiless ? Buffer.alloc(0) : await this.#body(head.headers) };
  }

  async head(): Promise<Omit<Reply, "body">> {
    const [first = "", ...lines] = (await this.#take("\r\n\r\n")).toString("latin1").split("\r\n");
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

  async #body(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    if (headers.get("transfer-encoding") !== "chunked") {
      return this.#bytes(Number(headers.get("content-length") ?? 0));
    }
    const parts: Buffer[] = [];
    for (let chunk = await this.chunk(); chunk.length > 0; chunk = await this.chunk()) parts.push(chunk);
    return Buffer.concat(parts);
  }

  /** The next chunk of a body that comes in chunks; empty at its end. */
  async chunk(): Promise<Buffer> {
    const size = Number.parseInt((await this.#take("\r\n")).toString(), 16);
    const bytes = await this.#bytes(size);
    await this.#bytes(2);
    return bytes;
  }

  /** What a stream has left to say, until it or its connection ends. */
  async rest(): Promise<string> {
    let text = "";
    try {
      for (let chunk = await this.chunk(); chunk.length > 0; chunk = await this.chunk()) text += chunk;
    } catch (error) {
      if (!this.ended) throw error;
    }
    return text;
  }

  async #take(end: string): Promise<Buffer> {
    for (;;) {
      const at = this.#received.indexOf(end);
      if (at >= 0) {
        const taken = this.#received.subarray(0, at);
        this.#received = this.#received.subarray(at + end.length);
        return taken;
      }
      await this.#more();
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    while (this.#received.length < count) await this.#more();
    const taken = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return taken;
  }

  async #more(): Promise<void> {
    if (this.ended) throw new Error("the connection has ended");
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

function linksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return []; // the process has gone
  }
}

const MAX_TRIES = 300;

/** A connection to each of the processes, in their order. */
export async function oneToEach(service: Service, pids: readonly number[]): Promise<Connection[]> {
  const found = new Map<number, Connection>();
  for (let tries = 0; tries < MAX_TRIES && found.size < pids.length; tries++) {
    const connection = await Connection.open(service);
    // Accepted for sure once it has answered.
    await connection.get("/healthz");
    const owner = connection.owner(pids);
    if (owner === undefined || found.has(owner)) connection.close();
    else found.set(owner, connection);
  }
  return pids.map((pid) => {
    const connection = found.get(pid);
    if (!connection) throw new Error(`no connection came to process ${pid} of ${pids.join(", ")}`);
    return connection;
  });
}
