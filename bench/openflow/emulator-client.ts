/** Controls the child process that emulates the network. */
import { join } from "node:path";
import { lines } from "./controllers.ts";

export interface Connected {
  /** The names of the two links of each cable. */
  readonly wires: readonly (readonly string[])[];
  /** When the first switch started to connect, and when the last one was connected. */
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
    if (done) throw new Error("the emulator exited");
    return JSON.parse(value);
  }

  async #send(command: string): Promise<void> {
    this.#child.stdin.write(`${command}\n`);
    await this.#child.stdin.flush();
  }

  /** Datapath ids begin after `dpidOffset`. */
  async connect(port: number, shape: string, switches: number, dpidOffset = 0): Promise<Connected> {
    await this.#send(`connect ${port} ${shape} ${switches} ${dpidOffset}`);
    const { wires } = await this.#next<Pick<Connected, "wires">>();
    return { wires, ...(await this.#next<Omit<Connected, "wires">>()) };
  }

  /** Returns the time of the change. */
  async setWire(wire: number, state: "up" | "down"): Promise<number> {
    await this.#send(`${state} ${wire}`);
    return (await this.#next<{ at: number }>()).at;
  }

  async disconnect(): Promise<void> {
    await this.#send("disconnect");
    await this.#next();
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#child.exited;
  }
}
