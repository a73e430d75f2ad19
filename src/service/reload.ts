/**
 * Reloads the configuration of a running service: users, limits, the settings of the map, the sources and how they are merged.
 * A reload is all or nothing: everything is read and checked first, and any fault leaves the configuration unchanged. Changed
 * keys that need a restart are logged. Reloads run one after the other; requests that arrive meanwhile lead to one more.
 */
import type { ReloadableUsers } from "../api/auth/users.ts";
import { UsersError } from "../api/auth/users-file.ts";
import type { ConfigReloadMetrics } from "../api/metrics/metrics.ts";
import type { ConfigResult } from "../config/config.ts";
import { renderFault } from "../config/faults.ts";
import type { Config } from "../config/schema.ts";
import { CONFIG_KEYS, type ConfigKey } from "../config/settings.ts";
import { createConfiguredSources } from "../config/sources.ts";
import type { Clock } from "../lib/clock.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Logger } from "../lib/logger.ts";
import { sameJson } from "../lib/same-json.ts";
import type { SourceContext } from "../sources/source.ts";
import type { SourceSet } from "./source-set.ts";

/** The keys and sections that a reload applies. All other keys need a restart. */
const RELOADABLE: ReadonlySet<string> = new Set([
  "users",
  "limits",
  "identity",
  "sources",
  "links",
  "metrics",
  "views",
]);

export interface ReloaderOptions {
  /** The configuration of the start. */
  readonly config: Config;
  readonly load: () => ConfigResult;
  readonly users: ReloadableUsers;
  readonly sources: SourceSet;
  /** Applies the limits in all processes, the forwarded resources, and the settings of the map. Must not fail. */
  readonly applySettings: (config: Config) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logId: SourceContext["logId"];
  readonly stateDir: SourceContext["stateDir"];
  readonly cluster: SourceContext["cluster"];
}

export class Reloader implements ConfigReloadMetrics {
  readonly #options: ReloaderOptions;
  #successful = true;
  #succeededAt: number;
  #isRunning = false;
  #isRequested = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#succeededAt = options.clock.now();
  }

  get successful(): boolean {
    return this.#successful;
  }

  get succeededAt(): number {
    return this.#succeededAt;
  }

  /** Requests a reload, and returns at once. The result is logged. */
  request(): void {
    this.#isRequested = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options;
    this.#isRunning = true;
    while (this.#isRequested) {
      this.#isRequested = false;
      try {
        this.#successful = await this.#reload();
      } catch (error) {
        this.#successful = false;
        logger.error("reload failed", { reason: errorMessage(error) });
      }
      if (this.#successful) this.#succeededAt = clock.now();
    }
    this.#isRunning = false;
  }

  async #reload(): Promise<boolean> {
    const { load, users, sources, applySettings, clock, logger, logId, stateDir, cluster } = this.#options;
    const loaded = load();
    for (const warning of loaded.warnings) logger.warn("reload warning", { reason: warning });
    const usersFile = loaded.settings.find(({ key }) => key.name === "users")?.value;
    const [applyUsers, usersFaults] = await prepareUsers(users, usersFile);
    const configFaults = loaded.ok ? [] : loaded.faults.map(renderFault);
    const context = { clock, log: logger, logId, stateDir, cluster };
    const created = loaded.ok ? createConfiguredSources(loaded.config, context) : undefined;
    const sourceFaults = created?.ok === false ? created.faults.map(renderFault) : [];
    const faults = [...configFaults, ...sourceFaults, ...usersFaults];
    if (!loaded.ok || !created?.ok || faults.length > 0) {
      for (const reason of faults) logger.error("reload refused", { reason });
      return false;
    }
    applySettings(loaded.config);
    applyUsers();
    const { added, removed, changed } = await sources.replace(created.sources, loaded.config);
    logger.info("configuration reloaded", {
      sourcesAdded: added.join(",") || undefined,
      sourcesRemoved: removed.join(",") || undefined,
      sourcesChanged: changed.join(",") || undefined,
    });
    const keys = this.#keysThatNeedRestart(loaded.config);
    if (keys.length > 0) logger.warn("restart needed", { keys: keys.join(",") });
    return true;
  }

  /** Keys whose value differs from the one that the service was started with, and that a reload cannot change. */
  #keysThatNeedRestart(next: Config): string[] {
    const { config } = this.#options;
    return CONFIG_KEYS.filter(
      (key) =>
        !RELOADABLE.has(key.path[0] ?? "") && !sameJson(configValue(config, key), configValue(next, key)),
    ).map(({ name }) => name);
  }
}

/** Returns the function that applies the users, and the faults. It must not be called if there are any. */
async function prepareUsers(
  users: ReloadableUsers,
  file: unknown,
): Promise<[apply: () => void, faults: readonly string[]]> {
  try {
    return [await users.prepareReload(typeof file === "string" ? file : undefined), []];
  } catch (error) {
    if (error instanceof UsersError) return [() => {}, error.faults];
    throw error;
  }
}

function configValue(config: Config, { path }: ConfigKey): unknown {
  return path.reduce<unknown>(
    (value, part) => Object.entries(value ?? {}).find(([name]) => name === part)?.[1],
    config,
  );
}
