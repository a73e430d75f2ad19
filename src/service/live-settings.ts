/**
 * The part of the configuration that changes while a process runs: one object, which its users read at each use. A reload
 * changes its values in place, in the writer and in every reader process.
 */
import Type from "typebox";
import { Configuration, type Immutable, type Limits } from "../config/schema.ts";
import type { Level } from "../lib/logger.ts";

/** As it is sent to the reader processes. */
export const SettingsSchema = Type.Pick(Configuration, ["limits", "logLevel"]);
export type SettingsValues = Immutable<Type.Static<typeof SettingsSchema>>;

export interface LiveSettings {
  readonly limits: Limits;
  logLevel: Level;
}

export const createLiveSettings = ({ limits, logLevel }: SettingsValues): LiveSettings => ({
  limits: { ...limits },
  logLevel,
});

export function updateSettings(settings: LiveSettings, { limits, logLevel }: SettingsValues): void {
  Object.assign(settings.limits, limits);
  settings.logLevel = logLevel;
}
