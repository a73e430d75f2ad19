/**
 * The settings of the configuration about merging: the order of the sources, their roles, and the rules by which devices of
 * two sources are the same. The service stores them with the log, because merged values depend on them.
 */
export const IDENTITY_RULES = ["chassisId", "serial", "managementAddress", "systemName"] as const;
/** A field by which devices are joined: devices of two sources with the same real value in it are one device. */
export type IdentityRule = (typeof IDENTITY_RULES)[number];
export const DEFAULT_IDENTITY: readonly IdentityRule[] = ["chassisId", "serial"];

export const SOURCE_ROLES = ["observed", "intended"] as const;
/** `intended`: the source is the plan that the network is compared with. It adds nothing to what is observed. */
export type SourceRole = (typeof SOURCE_ROLES)[number];

export interface SourceSettings {
  readonly name: string;
  readonly role: SourceRole;
  /** Whether the rules apply to its devices. If false, they are joined with those of other sources by equal ids only. */
  readonly merge: boolean;
}

export interface HistoryLimits {
  readonly keepDays: number;
  readonly maxBytes: number;
}

export interface MergeSettings {
  readonly identity: readonly IdentityRule[];
  /** The sources in order of precedence. */
  readonly sources: readonly SourceSettings[];
  /** The history limits of a cluster, which are the same for all nodes. Merging does not depend on them. */
  readonly history?: HistoryLimits;
}

/** Sources with the default settings, in order of precedence. */
export const observedSources = (names: readonly string[]): MergeSettings => ({
  identity: DEFAULT_IDENTITY,
  sources: names.map((name) => ({ name, role: "observed", merge: true })),
});
