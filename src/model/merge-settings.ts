/**
 * What the configuration says about merging: the order of the sources, their roles, and the rules by which devices of two
 * sources are the same. The service stores it with the log, because merged values depend on it.
 */
export const IDENTITY_RULES = ["chassisId", "serial", "managementAddress", "systemName"] as const;
/** Devices of two sources with the same real value are one device. */
export type IdentityRule = (typeof IDENTITY_RULES)[number];
export const DEFAULT_IDENTITY: readonly IdentityRule[] = ["chassisId", "serial"];

export const SOURCE_ROLES = ["observed", "intended"] as const;
/** `intended`: the source is the plan that the network is compared with. It adds nothing to what is observed. */
export type SourceRole = (typeof SOURCE_ROLES)[number];

export interface SourceSettings {
  readonly name: string;
  readonly role: SourceRole;
  /** False: its devices are joined with those of other sources by equal ids only, never by the rules. */
  readonly merge: boolean;
}

export interface HistoryLimits {
  readonly keepDays: number;
  readonly maxBytes: number;
}

export interface MergeSettings {
  readonly identity: readonly IdentityRule[];
  /** In order of precedence. */
  readonly sources: readonly SourceSettings[];
  /** Of a cluster, where it is one for all nodes. Merging does not depend on it. */
  readonly history?: HistoryLimits;
}

/** Sources with the default settings, in order of precedence. */
export const observedSources = (names: readonly string[]): MergeSettings => ({
  identity: DEFAULT_IDENTITY,
  sources: names.map((name) => ({ name, role: "observed", merge: true })),
});
