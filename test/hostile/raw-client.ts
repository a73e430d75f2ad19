/** A client that sends what it likes and counts what it gets, for attacks on a service in another process. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Service } from "../support/service.ts";

export class RawClient implements AsyncDisposable {
  readonly socket: Socket;
  #received = "";
  #isClosed = false;

  constructor({ url }: Pick<Service, "url">) {
    this.socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    this.socket.on("data", (data) => {
      this.#received += data.toString("latin1");
    });
    for (const event of ["end", "close", "error"])
      this.socket.on(event, () => {
        this.#isClosed = true;
      });
  }

  get received(): string {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  responses(status: number): number {
    return this.#received.split(`HTTP/1.1 ${status} `).length - 1;
  }

  /** Sends the piece again and again, with backpressure, until the connection ends. Returns how much was sent. */
  async flood(piece: string): Promise<number> {
    const bytes = Buffer.from(piece, "latin1");
    while (!this.#isClosed) {
      if (this.socket.write(bytes)) await new Promise((resolve) => setImmediate(resolve));
      else await new Promise<void>((resolve) => this.#onceWritable(resolve));
    }
    return this.socket.bytesWritten;
  }

  #onceWritable(resolve: () => void): void {
    for (const event of ["drain", "close", "end"]) this.socket.once(event, resolve);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
  }
}

/** The sum of all samples of a metric. */
export async function metric(service: Service, name: string, labels = ""): Promise<number> {
  const text = await (await service.fetch("/metrics")).text();
  const lines = text.split("\n").filter((line) => line.startsWith(name) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

/** How often the main thread of a process went to sleep by itself. A busy loop never does. */
export function sleepCount(pid: number): number {
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, "latin1");
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
}
