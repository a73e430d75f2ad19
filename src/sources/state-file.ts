/**
 * The state file of one source in the data folder, for data that it needs after a restart and that are not claims. It must not
 * contain secrets. The file is optional: when it is damaged or cannot be written, the source continues without it, and one
 * warning is logged.
 */
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { replaceFile } from "../lib/replace-file.ts";
import type { SourceContext } from "./source.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** The path of a state file. Names of sources contain no path separators. */
const pathOf = (stateDir: string, name: string): string => join(stateDir, `${name}.json`);

/** A validator of the content of a file, such as those of TypeBox. */
interface Check<T> {
  Check(value: unknown): value is T;
}

export class StateFile<T> {
  readonly #path: string | undefined;
  readonly #name: string;
  readonly #check: Check<T>;
  readonly #log: Logger;
  #isWritable = true;

  /** If the context has no folder, there is no file, and nothing is read or written. */
  constructor(name: string, check: Check<T>, { stateDir, log }: Pick<SourceContext, "stateDir" | "log">) {
    this.#path = stateDir === undefined ? undefined : pathOf(stateDir, name);
    this.#name = name;
    this.#check = check;
    this.#log = log;
  }

  /** Reads the state; undefined when there is no usable file. */
  async read(): Promise<T | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      const status = await stat(this.#path);
      if (!status.isFile() || status.size > MAX_BYTES) throw new Error("it is no file, or too large");
      const state: unknown = JSON.parse(await readFile(this.#path, "utf8"));
      if (this.#check.Check(state)) return state;
      throw new Error("it is not what this source has written");
    } catch (error) {
      if (!isMissing(error)) this.#warn("state file ignored", error);
      return undefined;
    }
  }

  async write(state: T): Promise<void> {
    if (this.#path === undefined) return;
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await replaceFile(this.#path, JSON.stringify(state));
      this.#isWritable = true;
    } catch (error) {
      if (this.#isWritable) this.#warn("state file cannot be written", error);
      this.#isWritable = false;
    }
  }

  #warn(event: string, error: unknown): void {
    this.#log.warn(event, { source: this.#name, file: this.#path, why: errorMessage(error) });
  }
}

/** Removes the file of a source that is no longer configured. Never rejects. */
export async function removeStateFile(
  name: string,
  { stateDir, log }: Pick<SourceContext, "stateDir" | "log">,
): Promise<void> {
  if (stateDir === undefined) return;
  const file = pathOf(stateDir, name);
  await rm(file, { force: true }).catch((error: unknown) =>
    log.warn("state file cannot be removed", { source: name, file, why: errorMessage(error) }),
  );
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";
