/**
 * The settings of a cluster are stored in its log: the order of the sources, their roles, the rules of identity and the limits
 * of the history. A node adds its sources that the settings lack, after the others. Only `gazetteer cluster apply` changes
 * anything else; a node whose file differs logs a warning.
 */
import type { Logger } from "../../lib/logger.ts";
import { sameJson } from "../../lib/same-json.ts";
import type { MergeSettings } from "../../model/merge-settings.ts";
import type { Committer } from "../../view/committer.ts";
import { MergeRules } from "../../view/merge-rules.ts";

export class ClusterSettings {
  readonly #committer: Committer;
  readonly #logger: Logger;
  #own: MergeSettings | undefined;
  #reported = "";

  constructor(committer: Committer, logger: Logger) {
    this.#committer = committer;
    this.#logger = logger;
    committer.onBatch(({ entries }) => {
      if (entries.some(({ kind }) => kind === "settings")) this.#report();
    });
  }

  /** Sets the settings of this node's file. Resolves when the sources that the cluster lacked are in the log. */
  async setOwn(own: MergeSettings): Promise<void> {
    this.#own = own;
    await this.#committer.changeSettings((clustered) => withOwnSources(clustered, own));
    this.#report();
  }

  /** Logs the differences, one line each time they change. */
  #report(): void {
    const { view } = this.#committer;
    if (!this.#own || !view.has("settings", "merge")) return;
    // Compares with the settings in the log, because those of the committer include changes that are not appended yet.
    const differences = differencesOf(MergeRules.read(view).settings, this.#own)
      .map(({ what }) => what)
      .join(", ");
    if (differences !== "" && differences !== this.#reported)
      this.#logger.warn(
        "the configuration of this node differs from the cluster's, which applies; `gazetteer cluster apply` makes this file the cluster's",
        { differences },
      );
    this.#reported = differences;
  }
}

/** Settings of a file as new settings of the cluster. Sources that the file lacks stay, after the others. */
export function withKeptSources(applied: MergeSettings, clustered: MergeSettings): MergeSettings {
  const names = new Set(applied.sources.map(({ name }) => name));
  return {
    ...applied,
    sources: [...applied.sources, ...clustered.sources.filter(({ name }) => !names.has(name))],
  };
}

export interface SettingsDifference {
  /** Name of the setting, in the words of the configuration. */
  readonly what: string;
  readonly clustered: string;
  readonly own: string;
}

/** Compares settings. Sources that the node does not have do not count as a difference. */
export function differencesOf(clustered: MergeSettings, own: MergeSettings): SettingsDifference[] {
  const ownNames = new Set(own.sources.map(({ name }) => name));
  const shared = clustered.sources.filter(({ name }) => ownNames.has(name));
  const differences: SettingsDifference[] = [];
  const compare = (what: string, before: unknown, after: unknown) => {
    if (!sameJson(before, after)) differences.push({ what, clustered: textOf(before), own: textOf(after) });
  };
  const namesOf = (sources: typeof shared) => sources.map(({ name }) => name);
  compare("order of sources", namesOf(shared), namesOf([...own.sources]));
  compare("identity", clustered.identity, own.identity);
  for (const { name, role, merge } of own.sources) {
    const source = shared.find((other) => other.name === name);
    if (!source) continue;
    compare(`role of ${name}`, source.role, role);
    compare(`merge of ${name}`, source.merge, merge);
  }
  compare("history", clustered.history, own.history);
  return differences;
}

const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(", ") || "none"
    : typeof value === "string"
      ? value
      : (JSON.stringify(value) ?? "none");

/**
 * The settings of the cluster, with the node's own sources that they lack, after the others. If the cluster has no sources
 * yet, the result is the node's own settings.
 */
export function withOwnSources(clustered: MergeSettings, own: MergeSettings): MergeSettings {
  if (clustered.sources.length === 0) return own;
  const known = new Set(clustered.sources.map(({ name }) => name));
  return {
    ...own,
    ...clustered,
    sources: [...clustered.sources, ...own.sources.filter(({ name }) => !known.has(name))],
  };
}
