/** The emulated network as the measurement sees it: a child process on a string. */
import { join } from "node:path";
import { lines } from "./controllers.ts";

export interface Connected {
  /** For each wire the names of its two links. */
  readonly wires: readonly (readonly string[])[];
  /** When the first switch began to connect, and when the last was connected. */
  readonly first: number;
  readonly connected: number;
}

export class EmulatorClient {
  readonly #child = Bun.spawn([process.execPath, join(import.meta.dir, "emulator-process.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  readonly #replies = lines(this.#child.stdout);

  async #next<T>(): Promise<T> {
    const { value, done } = await this.#replies.next();
    if (done) throw new Error("the network ended");
    return JSON.parse(value);
  }

  async #send(command: string): Promise<void> {
    this.#child.stdin.write(`${command}\n`);
    await this.#child.stdin.flush();
  }

  /** `before`: datapath ids begin after this number. */
  async connect(port: number, shape: string, switches: number, before = 0): Promise<Connected> {
    await this.#send(`connect ${port} ${shape} ${switches} ${before}`);
    const { wires } = await this.#next<Pick<Connected, "wires">>();
    return { wires, ...(await this.#next<Omit<Connected, "wires">>()) };
  }

  /** Answers when it did so. */
  async setWire(wire: number, state: "up" | "down"): Promise<number> {
    await this.#send(`${state} ${wire}`);
    return (await this.#next<{ at: number }>()).at;
  }

  async disconnect(): Promise<void> {
    await this.#send("leave");
    await this.#next();
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#child.exited;
  }
}
