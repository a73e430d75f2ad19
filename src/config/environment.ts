/**
 * The environment as a layer: `GAZETTEER_` and the key in upper snake case. Lists are separated by commas, `sources` is
 * JSON. An empty variable counts as not set. An unknown `GAZETTEER_…` is a warning and not a fault, because a variable
 * may belong to another version, or to a program that runs this one.
 */
import { dropIgnoredKeys } from "../lib/gone-keys.ts";
import { nearest } from "../lib/nearest.ts";
import type { ConfigFault, Origin } from "./faults.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import { CONFIG_KEYS, type ConfigKey, ENVIRONMENT_PREFIX, parseValue, variableOf } from "./keys.ts";
import { type CheckedLayer, checkLayer, createSetting, type Setting } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are no keys: the credentials, and those that the commands read which talk to a service. */
const OTHER_VARIABLES = ["GAZETTEER_CREDENTIALS", "GAZETTEER_URL"];

export function readEnvironment(environment: Environment): CheckedLayer {
  const settings: Setting[] = [];
  const faults: ConfigFault[] = [];
  const ignored: ConfigFault[] = [];
  for (const key of CONFIG_KEYS) {
    const text = environment[key.variable];
    if (text === undefined || text === "") continue;
    const origin: Origin = { kind: "environment", name: key.variable };
    const { value, dropped } = dropIgnoredKeys(parseValue(key, text), GONE_KEYS, key.path);
    ignored.push(...dropped.map((fault) => ({ ...fault, origin })));
    if (isBrokenJson(key, value)) {
      faults.push({ origin, path: [], message: 'must be JSON, such as [{"type":"demo"}]' });
    } else settings.push(createSetting(key, value, origin));
  }
  const { layer, faults: valueFaults } = checkLayer(settings);
  return { layer, faults: [...faults, ...valueFaults], ignored };
}

const isBrokenJson = ({ isList }: ConfigKey, value: unknown): boolean => isList && typeof value === "string";

/** One line for each variable that has the prefix but is not known. `referenced` are those that hold secrets of sources. */
export function unknownVariables(environment: Environment, referenced: readonly string[]): string[] {
  const known = [...CONFIG_KEYS.map(({ variable }) => variable), ...OTHER_VARIABLES, ...referenced];
  return Object.keys(environment)
    .filter((name) => name.startsWith(ENVIRONMENT_PREFIX) && !known.includes(name))
    .map((name) => {
      const gone = GONE_KEYS.find(({ key }) => variableOf(key.split(".")) === name);
      if (gone) return `${name} is gone; ${gone.advice}`;
      const near = nearest(name, known);
      return `${name} is not known${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}
