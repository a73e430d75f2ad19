/**
 * The part of the configuration that can change while a process runs: one object, which is read at each use. A reload
 * changes its values in place, in the writer and in every reader process.
 */
import Type from "typebox";
import { Configuration, type Immutable, type Limits } from "../config/schema.ts";

/** The settings as they are sent to the reader processes. */
export const SettingsSchema = Type.Pick(Configuration, ["limits"]);
export type SettingsValues = Immutable<Type.Static<typeof SettingsSchema>>;

export interface LiveSettings {
  readonly limits: Limits;
}

export const createLiveSettings = ({ limits }: SettingsValues): LiveSettings => ({
  limits: { ...limits },
});

export function updateSettings(settings: LiveSettings, { limits }: SettingsValues): void {
  Object.assign(settings.limits, limits);
}
