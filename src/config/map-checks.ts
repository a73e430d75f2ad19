/**
 * Checks of the sections of the map that their schemas cannot express: URL templates, secrets, and unique names. The settings
 * have passed their schemas.
 */
import Value from "typebox/value";
import type { KeyPath } from "../lib/schema-faults.ts";
import { parseLinkTemplate } from "../model/link-template.ts";
import { MapLink } from "../model/map-settings.ts";
import { findViewFaults, MapView } from "../model/map-view.ts";
import { checkSecretFiles, findSecretFaults } from "../sources/secret.ts";
import type { ConfigFault } from "./faults.ts";
import { MetricsServer } from "./map-schema.ts";
import { DEFAULT_ORIGIN, type Setting } from "./settings.ts";
import type { SourceContents } from "./sources.ts";

/** A fault of an entry. Its path is relative to the entry. */
interface EntryFault {
  readonly path: KeyPath;
  readonly message: string;
  readonly atKey?: true;
}

export function checkMap(settings: readonly Setting[]): ConfigFault[] {
  const [linkNames, metricNames, viewNames] = [new Set<string>(), new Set<string>(), new Set<string>()];
  return [
    ...faultsOf(settings, "links", (entry) =>
      Value.Check(MapLink, entry) ? linkFaults(entry, linkNames) : [],
    ),
    ...faultsOf(settings, "metrics", (entry) =>
      Value.Check(MetricsServer, entry) ? serverFaults(entry, metricNames) : [],
    ),
    ...faultsOf(settings, "views", (entry) =>
      Value.Check(MapView, entry)
        ? [...repeated(viewNames, entry.name, ["name"], "view"), ...findViewFaults(entry)]
        : [],
    ),
  ];
}

function linkFaults({ name, kind, url }: MapLink, names: Set<string>): EntryFault[] {
  const parsed = parseLinkTemplate(url);
  const faults = repeated(names, `${kind} ${name}`, ["name"], `link of kind ${kind}`);
  return parsed.ok ? faults : [...faults, { path: ["url"], message: parsed.message }];
}

function serverFaults(server: MetricsServer, names: Set<string>): EntryFault[] {
  const faults: EntryFault[] = [...findSecretFaults(MetricsServer, server)];
  const given = (name: string) =>
    Object.keys(server).find((key) => [name, `${name}File`, `${name}Env`].includes(key));
  const [credentials, token] = [given("credentials"), given("token")];
  if (credentials !== undefined && token !== undefined)
    faults.push({
      path: [token],
      message: `only one of ${credentials} and ${token} can be given`,
      atKey: true,
    });
  for (const [index, { name }] of server.queries.entries())
    faults.push(...repeated(names, name, ["queries", index, "name"], "metric"));
  return faults;
}

/** Returns a fault if `names` has the name already; adds it otherwise. */
function repeated(names: Set<string>, name: string, path: KeyPath, what: string): EntryFault[] {
  if (!names.has(name)) {
    names.add(name);
    return [];
  }
  return [{ path, message: `another ${what} has this name` }];
}

/** Checks the files that hold secrets, for `gazetteer check`. */
export async function checkMapFiles(settings: readonly Setting[]): Promise<SourceContents> {
  const reports = new Map<unknown, readonly EntryFault[]>();
  const warnings: string[] = [];
  for (const [index, entry] of entriesOf(settings, "metrics").entries()) {
    const report = await checkSecretFiles(MetricsServer, entry);
    reports.set(entry, report.faults);
    warnings.push(...report.warnings.map((warning) => `metrics[${index}]: ${warning}`));
  }
  return { faults: faultsOf(settings, "metrics", (entry) => reports.get(entry) ?? []), warnings };
}

function entriesOf(settings: readonly Setting[], name: string): readonly unknown[] {
  const value = settings.find(({ key }) => key.name === name)?.value;
  return Array.isArray(value) ? value : [];
}

/** The faults of all entries, each with the origin of its entry. A variable holds the whole list, so paths have the index. */
function faultsOf(
  settings: readonly Setting[],
  name: string,
  check: (entry: unknown) => readonly EntryFault[],
): ConfigFault[] {
  const setting = settings.find(({ key }) => key.name === name);
  return entriesOf(settings, name).flatMap((entry, index) => {
    const origin = setting?.itemOrigins[index] ?? DEFAULT_ORIGIN;
    const prefix = origin.kind === "environment" ? [index] : [];
    return check(entry).map((fault) => ({ ...fault, origin, path: [...prefix, ...fault.path] }));
  });
}
