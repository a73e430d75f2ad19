/**
 * The merge rules: everything that a merged value depends on besides the claims, which is the settings of the
 * configuration, the state of each source, and the kinds that the plan contains. They are immutable; each commit uses one
 * instance. They are stored in the collection `settings`, so that historical states can be explained by the rules of their
 * time.
 */
import { compareTexts } from "../lib/sorted.ts";
import type { Kind } from "../model/ids.ts";
import {
  DEFAULT_IDENTITY,
  type HistoryLimits,
  type IdentityRule,
  type MergeSettings,
  type SourceSettings,
} from "../model/merge-settings.ts";

/** The state of a source as it is stored in the log. */
export interface SourceFacts {
  /** Whether the source has reported its full set at least once. */
  readonly hasSynced: boolean;
  /** Epoch milliseconds since when its claims may be outdated; absent while the source is live. */
  readonly staleSince?: number;
  /** Epoch milliseconds since when it fails, even if it has never worked; absent while it works. */
  readonly failedSince?: number;
  /** The reason of the first failure. It is not updated at later attempts, even if their reason differs. */
  readonly error?: string;
}

/** A state with the collection `settings`. */
export interface SettingsState {
  get(kind: "settings", id: string): string | undefined;
}

/** The value is not validated, because only the committer writes this collection. */
const readSetting = <T>(state: SettingsState, id: string): T => JSON.parse(state.get("settings", id) ?? "{}");

const NO_KINDS: ReadonlySet<Kind> = new Set();

export class MergeRules {
  readonly settings: MergeSettings;
  readonly facts: ReadonlyMap<string, SourceFacts>;
  /** The kinds of which an intended, synced source claims an entity. */
  readonly plannedKinds: ReadonlySet<Kind>;
  readonly intendedSources: readonly string[];
  /**
   * The kinds that are compared with the plan: those that it contains, but none before every observed source has reported
   * once. Claims of another kind, by a plan that has not synced, are not compared yet.
   */
  readonly comparedKinds: ReadonlySet<Kind>;
  /** The revision at which every source had reported once or failed; undefined before. It never changes once it is set. */
  readonly loadedRevision: number | undefined;
  readonly #rank: ReadonlyMap<string, number>;

  constructor(
    settings: MergeSettings,
    facts: ReadonlyMap<string, SourceFacts> = new Map(),
    plannedKinds: ReadonlySet<Kind> = new Set(),
    loadedRevision?: number,
  ) {
    this.settings = settings;
    this.loadedRevision = loadedRevision;
    this.facts = facts;
    this.plannedKinds = plannedKinds;
    const { sources } = settings;
    this.intendedSources = sources.filter(({ role }) => role === "intended").map(({ name }) => name);
    const isObserved = sources.every(({ name, role }) => role === "intended" || facts.get(name)?.hasSynced);
    this.comparedKinds = isObserved ? plannedKinds : NO_KINDS;
    this.#rank = new Map(settings.sources.map(({ name }, i) => [name, i]));
  }

  /** Reads the rules stored in a state. They have no sources if the log is from before settings were stored. */
  static read(state: SettingsState): MergeRules {
    const { identity = DEFAULT_IDENTITY, sources = [] } = readSetting<Partial<MergeSettings>>(state, "merge");
    const facts = new Map<string, SourceFacts>();
    for (const { name } of sources) {
      const known = readSetting<Partial<SourceFacts>>(state, `source:${name}`);
      if (known.hasSynced !== undefined) facts.set(name, { ...known, hasSynced: known.hasSynced });
    }
    const { kinds = [] } = readSetting<{ readonly kinds?: readonly Kind[] }>(state, "plan");
    const history = state.get("settings", "history")
      ? readSetting<HistoryLimits>(state, "history")
      : undefined;
    const { revision } = readSetting<{ readonly revision?: number }>(state, "loaded");
    return new MergeRules(
      { identity, sources, ...(history && { history }) },
      facts,
      new Set(kinds),
      revision,
    );
  }

  /** The values of the collection `settings`, by id: what `read` reads. */
  stored(): Map<string, object> {
    const { history, ...merge } = this.settings;
    const values = new Map<string, object>([["merge", merge]]);
    if (history) values.set("history", history);
    for (const [source, facts] of this.facts) values.set(`source:${source}`, facts);
    if (this.plannedKinds.size > 0) values.set("plan", { kinds: [...this.plannedKinds].sort() });
    if (this.loadedRevision !== undefined) values.set("loaded", { revision: this.loadedRevision });
    return values;
  }

  /**
   * Returns the rules with other settings. A source that is no longer in the settings keeps its rank and its role until it
   * is removed (`withoutSource`), because it may still have claims. So no entity is merged again only to be removed, and a
   * device that loses its id with the claims of the source keeps it as an alias.
   */
  withSettings({ sources, ...settings }: MergeSettings): MergeRules {
    const all = [...sources];
    let place = 0;
    for (const known of this.settings.sources) {
      const at = all.findIndex(({ name }) => name === known.name);
      if (at < 0) all.splice(place, 0, known);
      place = at < 0 ? place + 1 : at + 1;
    }
    return this.#with({ settings: { ...settings, sources: all } });
  }

  /** `revision` is that of the view; it is stored if the facts end the first load. */
  withFacts(source: string, facts: SourceFacts, revision: number): MergeRules {
    const next = this.#with({ facts: new Map(this.facts).set(source, facts) });
    const endsLoad = this.loadedRevision === undefined && !this.isLoaded && next.isLoaded;
    return endsLoad ? next.#with({ loadedRevision: revision }) : next;
  }

  withPlannedKinds(plannedKinds: ReadonlySet<Kind>): MergeRules {
    return this.#with({ plannedKinds });
  }

  #with(
    changed: Partial<Pick<MergeRules, "settings" | "facts" | "plannedKinds" | "loadedRevision">>,
  ): MergeRules {
    const { settings, facts, plannedKinds, loadedRevision } = { ...this, ...changed };
    return new MergeRules(settings, facts, plannedKinds, loadedRevision);
  }

  /** Whether every source has reported once, or fails. */
  get isLoaded(): boolean {
    return this.settings.sources.every(({ name }) => {
      const facts = this.facts.get(name);
      return facts !== undefined && (facts.hasSynced || facts.failedSince !== undefined);
    });
  }

  withoutSource(source: string): MergeRules {
    const facts = new Map(this.facts);
    facts.delete(source);
    const sources = this.settings.sources.filter(({ name }) => name !== source);
    return this.#with({ settings: { ...this.settings, sources }, facts });
  }

  get identity(): readonly IdentityRule[] {
    return this.settings.identity;
  }

  /** The rank of a source; 0 is the highest. A source that is not configured has the lowest. */
  rankOf(source: string): number {
    return this.#rank.get(source) ?? this.#rank.size;
  }

  isConfigured(source: string): boolean {
    return this.#rank.has(source);
  }

  isIntended(source: string): boolean {
    return this.intendedSources.length > 0 && this.#settingsOf(source)?.role === "intended";
  }

  /** Whether its devices may be joined with those of other sources by the identity rules. */
  joinsByIdentity(source: string): boolean {
    return this.#settingsOf(source)?.merge ?? false;
  }

  /** The sources whose devices may be joined by the rules; none if there are no rules, or only one such source. */
  get joiningSources(): readonly string[] {
    const names = this.settings.sources.filter(({ merge }) => merge).map(({ name }) => name);
    return this.identity.length > 0 && names.length > 1 ? names : [];
  }

  /** Compares observed sources by their configured order, then intended ones. The first source gives a device its id. */
  compareLeaders(a: string, b: string): number {
    return Number(this.isIntended(a)) - Number(this.isIntended(b)) || this.compareRank(a, b);
  }

  isStale(source: string): boolean {
    return this.facts.get(source)?.staleSince !== undefined;
  }

  /** Compares by the configured order, which determines ids. */
  compareRank(a: string, b: string): number {
    return this.rankOf(a) - this.rankOf(b) || compareTexts(a, b);
  }

  /** Compares live sources before stale ones, then by the configured order. This determines fields. */
  comparePrecedence(a: string, b: string): number {
    return Number(this.isStale(a)) - Number(this.isStale(b)) || this.compareRank(a, b);
  }

  #settingsOf(source: string): SourceSettings | undefined {
    return this.settings.sources[this.rankOf(source)];
  }
}
