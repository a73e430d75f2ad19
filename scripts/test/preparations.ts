/**
 * Installs what suites need beyond the packages of npm, from the beginning of the run and beside the suites that need
 * none of it. A suite starts when all that it needs is there. An installation that fails is no failure of the run: the
 * tests that need it print what is missing, and fail where CI=true.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installPeers } from "../peers.ts";
import type { RunContext } from "./run-suite.ts";
import { DEBIAN, EXECUTABLE, type Suite } from "./suites.ts";

export class Preparations {
  readonly #pending = new Map<string, Promise<void>>();

  /** Starts all that these suites need: each after what is before it in the list of a suite; the build needs nothing. */
  constructor(suites: readonly Suite[], context: RunContext) {
    const started = new Map<string, Promise<void>>();
    for (const { peers } of suites) {
      let before = Promise.resolve();
      for (const name of peers) {
        const after = name === EXECUTABLE ? Promise.resolve() : before;
        const done = started.get(name) ?? after.then(() => prepare(name, context)).catch(console.error);
        started.set(name, done);
        this.#pending.set(
          name,
          done.finally(() => this.#pending.delete(name)),
        );
        if (name !== EXECUTABLE) before = done;
      }
    }
  }

  isReady(suite: Suite): boolean {
    return suite.peers.every((name) => !this.#pending.has(name));
  }

  /** What has not ended yet. */
  get pending(): Iterable<Promise<void>> {
    return this.#pending.values();
  }
}

async function prepare(name: string, { root, stop }: RunContext): Promise<void> {
  if (name === DEBIAN) return installPeers();
  if (stop.aborted || !existsSync(join(root, name))) return;
  const child = Bun.spawn([process.execPath, `./${name}`], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    signal: stop,
  });
  await child.exited;
}
