/** The process of descriptor-hog.ts, with a limit on its file descriptors. */
import { join } from "node:path";
import type { Subprocess } from "bun";

export class HogProcess implements AsyncDisposable {
  readonly #child: Subprocess<"pipe", "pipe", "inherit">;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;
  #lines: string[] = [];

  constructor(maxOpenFiles: number, ...args: string[]) {
    const script = join(import.meta.dir, "descriptor-hog.ts");
    const limited = ["sh", "-c", `ulimit -n ${maxOpenFiles}; exec "$@"`, "sh"];
    const command = [...limited, process.execPath, script, ...args];
    this.#child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    this.#output = this.#child.stdout.getReader();
  }

  get pid(): number {
    return this.#child.pid;
  }

  async nextLine(): Promise<string | undefined> {
    if (this.#lines.length === 0) {
      const { value } = await this.#output.read();
      this.#lines = new TextDecoder().decode(value).trim().split("\n");
    }
    return this.#lines.shift();
  }

  send(command: "take" | "give back" | "stop"): void {
    this.#child.stdin.write(`${command}\n`);
    this.#child.stdin.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }
}
