/**
 * The dialect of the alias `onos`: it serves what ONOS 2.7 serves under /onos/v1, for programs whose JSON mappers reject
 * unknown fields. docs/from-onos.md lists the differences; test/onos compares it with ONOS's own REST code.
 *
 * An entity is converted as text: the fields that Gazetteer adds come after those of ONOS, so that they are cut off
 * without parsing. Only an entity with an upper-case device id or a logical port is parsed. Each page is converted once,
 * when it is first read under the alias, and the result is kept as long as the page itself.
 */
import type { Entities } from "../../model/entity.ts";
import type { Kind } from "../../model/ids.ts";
import type { QueryParameter } from "../../query/parameter.ts";
import type { ParameterSet } from "../../query/parameters.ts";
import type { EncodedPage } from "../../view/encoded-page.ts";
import { JSON_TYPE } from "../response/representation.ts";
import { type Dialect, PLAIN, problemBody } from "./dialect.ts";
import { missingOnosResource, WRITE_ADVICE } from "./missing-resources.ts";

/** The fields that ONOS has, in the order of the JSON. */
// biome-ignore format: lists of words
const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  devices: [
    "id", "type", "available", "role", "mfr", "hw", "sw", "serial", "driver", "chassisId", "lastUpdate",
    "humanReadableLastUpdate", "annotations",
  ],
  ports: ["element", "port", "isEnabled", "type", "portSpeed", "annotations"],
  links: ["src", "dst", "type", "state", "annotations"],
  hosts: [
    "id", "mac", "vlan", "innerVlan", "outerTpid", "configured", "suspended", "ipAddresses", "locations",
    "auxLocations", "annotations",
  ],
};
/** The fields of a host in ONOS before 1.14. The annotations stay last in the JSON. */
const OLD_HOST_FIELDS = FIELDS.hosts.toSpliced(-1, 0, "location");

/** The first field that ONOS does not have. An annotation may have the same name, but the last match in the text is the field. */
const FIRST_OWN_FIELD: Readonly<Record<Kind, string>> = {
  devices: ',"firstSeen":"',
  ports: ',"firstSeen":"',
  links: ',"id":"',
  hosts: ',"firstSeen":"',
};
const HOST_LOCATION = /,"location":\{"elementId":"(?:[^"\\]|\\.)*","port":"[^"]*"\}/;

/** Matches an entity that may have an upper-case device id or a port that ONOS spells in another way. */
const NEEDS_SPELLING: Readonly<Record<Kind, RegExp>> = {
  devices: /^\{"id":"[^"]*[A-Z]/,
  ports: /^\{"element":"[^"]*[A-Z]|"port":"controller"/,
  links: /"device":"[^"]*[A-Z]|"port":"[a-z]/,
  hosts: /"elementId":"[^"]*[A-Z]|"port":"[a-z]/,
};

const deviceId = (id: string): string => id.toLowerCase();

/** Converts the end of a link, or a location. The end of a path may be a host, whose id is in upper case as in ONOS. */
const spellPoint = (point: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(point).map(([name, value]) => {
      if (name === "port") return [name, value.toUpperCase()];
      return [name, name === "host" ? value : deviceId(value)];
    }),
  );

const SPELL: { readonly [K in Kind]: (entity: Entities[K]) => Record<string, unknown> } = {
  devices: (device) => ({ ...device, id: deviceId(device.id) }),
  ports: (port) => ({
    ...port,
    element: deviceId(port.element),
    // ONOS writes this port in lower case in port lists only.
    port: port.port === "local" ? port.port : port.port.toUpperCase(),
  }),
  links: (link) => ({ ...link, src: spellPoint(link.src), dst: spellPoint(link.dst) }),
  hosts: (host) => ({
    ...host,
    locations: host.locations.map(spellPoint),
    auxLocations: host.auxLocations?.map(spellPoint),
    location: spellPoint(host.location),
  }),
};

/** Parameters that ONOS uses only together with `device`. */
const NEEDS_DEVICE = ["port", "direction"];
/** Parameters of Gazetteer that are ignored like any other that ONOS does not know. */
const OWN_PARAMETERS = ["drift", "explain", "name"];

function parameters(
  all: readonly QueryParameter[],
  { kind, byName: existing }: ParameterSet,
): readonly QueryParameter[] {
  if (all.length === 0) return all;
  const byName = new Map<string, QueryParameter>();
  for (const parameter of all) {
    const { name } = parameter;
    const exists =
      (existing.has(name) && !OWN_PARAMETERS.includes(name)) || (kind && name.startsWith("annotations."));
    if (exists && !byName.has(name)) byName.set(name, parameter);
  }
  if (existing.has("device") && !byName.has("device")) for (const name of NEEDS_DEVICE) byName.delete(name);
  return [...byName.values()];
}

/** Statuses that are decided before the path is evaluated, so that their body is the same under every prefix. */
const COMMON_STATUSES = [401, 429, 431, 503];

export interface OnosOptions {
  /** Whether hosts also have `location`, as in ONOS before 1.14. */
  readonly hostLocation: boolean;
}

export function createOnosDialect({ hostLocation }: OnosOptions): Dialect {
  const fields = (kind: Kind) => (kind === "hosts" && hostLocation ? OLD_HOST_FIELDS : FIELDS[kind]);
  const converted = new WeakMap<EncodedPage, EncodedPage>();

  function entity(kind: Kind, json: string): string {
    if (NEEDS_SPELLING[kind].test(json)) return spell(kind, json, fields(kind));
    const end = json.lastIndexOf(FIRST_OWN_FIELD[kind]);
    const own = end < 0 ? json : `${json.slice(0, end)}}`;
    return kind === "hosts" && !hostLocation ? own.replace(HOST_LOCATION, "") : own;
  }

  /** Converts pages. Pauses after each page that was not converted before. */
  function* pages(kind: Kind, all: readonly EncodedPage[]): Generator<EncodedPage | undefined, void, void> {
    for (const page of all) {
      let result = converted.get(page);
      if (!result) {
        result = page.mapValues((json) => entity(kind, json));
        converted.set(page, result);
        yield undefined;
      }
      yield result;
    }
  }

  return {
    keyPrefix: hostLocation ? "onos-location " : "onos ",
    showsRevision: false,
    showsDrift: false,
    acceptsNames: false,
    unknownPathHint: " See /docs/from-onos: the paths of ONOS, and what is here in their place.",
    missingResource: missingOnosResource,
    writeAdvice: WRITE_ADVICE,
    fields,
    entity,
    pages,
    deviceId,
    cost: (cost) => cost.toFixed(1),
    topology: ({ time, clusters }, graph) => ({ time, ...graph.activeCounts(), clusters }),
    parameters,
    error: (problem, instance) =>
      COMMON_STATUSES.includes(problem.status)
        ? problemBody(problem, instance)
        : {
            contentType: JSON_TYPE,
            body: JSON.stringify({ code: problem.status, message: problem.message }),
          },
  };
}

/** Parses and converts an entity. Annotations are free text and stay as they are. */
function spell(kind: Kind, json: string, fields: readonly string[]): string {
  const record: Record<string, unknown> = SPELL[kind](JSON.parse(json));
  const kept = fields.filter((field) => record[field] !== undefined);
  return JSON.stringify(Object.fromEntries(kept.map((field) => [field, record[field]])));
}

/** The first segments of paths of the interface, each with its dialect. */
export class Prefixes {
  /** An array with the slashes around each prefix, because a map would need a copy of the segment of every path. */
  readonly #starts: readonly (readonly [start: string, dialect: Dialect])[];

  constructor(dialects: ReadonlyMap<string, Dialect>) {
    this.#starts = Array.from(dialects, ([prefix, dialect]) => [`/${prefix}/`, dialect]);
  }

  /** The dialect of a path; undefined for a path outside the interface. The rest of the path is not checked. */
  find(path: string): Dialect | undefined {
    for (const [start, dialect] of this.#starts)
      if (path.startsWith(start) || (path.length === start.length - 1 && start.startsWith(path)))
        return dialect;
    return undefined;
  }
}

/** Creates the prefixes. Every alias except `onos` serves exactly what `controller` serves. */
export const createPrefixes = (
  aliases: readonly string[],
  onos: OnosOptions = { hostLocation: false },
): Prefixes =>
  new Prefixes(
    new Map(
      ["controller", ...aliases].map((prefix) => [
        prefix,
        prefix === "onos" ? createOnosDialect(onos) : PLAIN,
      ]),
    ),
  );

/** The dialect of a path. Paths outside the interface have the plain one. */
export const dialectOf = (path: string, prefixes: Prefixes): Dialect => prefixes.find(path) ?? PLAIN;

/** Whether a path begins with one of the prefixes. The rest of the path is not checked. */
export const isInterfacePath = (path: string, prefixes: Prefixes): boolean =>
  prefixes.find(path) !== undefined;
