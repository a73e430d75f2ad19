/**
 * The settings of a cluster are those of its log: the order of the sources, their roles, the rules of identity and the limits
 * of the history. A node adds the sources that they lack, after the others. Everything else is changed by
 * `gazetteer cluster apply` only; a node whose file differs says so.
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

  /** The file of this node has these. Resolves when what is new of them is in the log. */
  async setOwn(own: MergeSettings): Promise<void> {
    this.#own = own;
    await this.#committer.changeSettings((clustered) => withOwnSources(clustered, own));
    this.#report();
  }

  /** One line each time that the differences are others. */
  #report(): void {
    const { view } = this.#committer;
    if (!this.#own || !view.has("settings", "merge")) return;
    // Compares with the settings of the log: those of the committer have what this node would like to change.
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

/** The settings that a file has, as those of the cluster: sources that the file lacks stay, after the others. */
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

/** Sources that the node does not have are no difference. */
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
 * The settings of the cluster are those of its log. A source that they lack comes after the others; everything else is
 * changed by `gazetteer cluster apply` only.
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
