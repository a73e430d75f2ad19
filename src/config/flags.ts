/**
 * The flags of `serve` and `check` as a layer. A flag that stands for a key, and `--set KEY=VALUE` for every key that is not a
 * list, replace the value; `--alias`, `--demo`, `--openflow` and `--file` add to the lists.
 */
import { nearest } from "../lib/nearest.ts";
import { parseDemoSpec } from "../sources/demo/options.ts";
import type { ConfigFault, SettingOrigin } from "./faults.ts";
import { GONE_KEYS } from "./gone-keys.ts";
import {
  type AddedItem,
  type CheckedLayer,
  CONFIG_KEYS,
  type ConfigKey,
  checkAddedItem,
  checkLayer,
  createSetting,
  findKey,
  parseValue,
  type Setting,
} from "./settings.ts";

/** The flags as they were given. */
export interface FlagReader {
  /** The values of a flag, in order; empty text when it was given without one. */
  all(flag: string): readonly string[];
}

export interface CheckedFlags extends CheckedLayer {
  /** The items that flags add to lists. Sources among them have no name yet. */
  readonly added: readonly AddedItem[];
}

/** The keys of the flags that replace a value, by flag. */
const FLAG_KEYS: Readonly<Record<string, string>> = {
  host: "host",
  port: "port",
  data: "data",
  users: "users",
  readers: "readers",
  cluster: "cluster.servers",
  "tls-cert": "tls.cert",
  "tls-key": "tls.key",
  "tls-client-ca": "tls.clientCa",
  "allow-plaintext": "allowPlaintext",
};
/** Flags without a value. */
const SWITCHES: ReadonlySet<string> = new Set(["allow-plaintext"]);

export function readFlags(flags: FlagReader): CheckedFlags {
  const faults: ConfigFault[] = [];
  const ignored: ConfigFault[] = [];
  const settings = new Map<ConfigKey, Setting>();
  const set = (key: ConfigKey, text: string, name: string) => {
    const origin: SettingOrigin = { kind: "flag", name };
    if (settings.has(key)) faults.push({ origin, path: [], message: `${key.name} is given twice` });
    else settings.set(key, createSetting(key, parseValue(key, text), origin));
  };
  for (const [flag, name] of Object.entries(FLAG_KEYS)) {
    const key = findKey(name);
    for (const text of flags.all(flag)) if (key) set(key, SWITCHES.has(flag) ? "true" : text, `--${flag}`);
  }
  for (const assignment of flags.all("set")) {
    const [, name = assignment, text] = /^([^=]*)=(.*)$/s.exec(assignment) ?? [];
    const found = findScalarKey(name);
    const gone = GONE_KEYS.find(({ key }) => key === name);
    if (text === undefined)
      faults.push(flagFault("--set", `${assignment} must be KEY=VALUE, such as port=8181`));
    else if (gone)
      (gone.ignored ? ignored : faults).push(flagFault(`--set ${name}`, `is gone; ${gone.advice}`));
    else if ("message" in found) faults.push(flagFault(`--set ${name}`, found.message));
    else set(found, text, `--set ${name}`);
  }
  const { layer, faults: valueFaults } = checkLayer([...settings.values()]);
  const { added, faults: addedFaults } = readAddedItems(flags);
  return { layer, added, faults: [...faults, ...valueFaults, ...addedFaults], ignored };
}

const flagFault = (name: string, message: string): ConfigFault => ({
  origin: { kind: "flag", name },
  path: [],
  message,
});

function findScalarKey(name: string): ConfigKey | { readonly message: string } {
  const key = findKey(name);
  if (key && !key.isList) return key;
  if (key) return { message: `is a list; set it in the file or with ${key.variable}` };
  const names = CONFIG_KEYS.filter(({ isList }) => !isList).map((candidate) => candidate.name);
  const near = nearest(name, names);
  return {
    message: `unknown key; ${near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`}`,
  };
}

/** Reads the items that flags add to the lists `aliases` and `sources`. */
function readAddedItems(flags: FlagReader): { added: AddedItem[]; faults: ConfigFault[] } {
  const added: AddedItem[] = [];
  const faults: ConfigFault[] = [];
  const add = (flag: string, name: string, value: unknown) => {
    const key = findKey(name);
    if (!key) return;
    const item: AddedItem = { key, value, origin: { kind: "flag", name: `--${flag}` } };
    const itemFaults = checkAddedItem(item);
    faults.push(...itemFaults);
    if (itemFaults.length === 0) added.push(item);
  };
  for (const alias of flags.all("alias")) add("alias", "aliases", alias);
  for (const text of flags.all("demo")) {
    const spec = parseDemoSpec(text);
    if (spec.ok) add("demo", "sources", { type: "demo", ...spec.options });
    else
      faults.push(
        ...spec.faults.map((fault) => ({ ...fault, origin: { kind: "flag", name: "--demo" } as const })),
      );
  }
  for (const listen of flags.all("openflow")) {
    // The flag is for labs: switches without another controller forward nothing unless they are programmed.
    add("openflow", "sources", { type: "openflow", ...(listen !== "" && { listen }), forwarding: "bridge" });
  }
  for (const path of flags.all("file")) add("file", "sources", { type: "file", path });
  return { added, faults };
}
