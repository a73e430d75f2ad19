/**
 * The table of query parameters: on which reads each exists, what its value looks like, and what it adds to a query.
 * The parser, the faults that list what exists, and the OpenAPI document all read this one table. To add a parameter, add
 * a row (and, where it is more than a filter, a field of `Query`).
 */
import { quote } from "../lib/error-text.ts";
import { DRIFT_STATES } from "../model/entity.ts";
import { KINDS, type Kind } from "../model/ids.ts";
import { PROBLEM_KINDS, PROBLEM_RESOURCES, PROBLEM_SEVERITIES } from "../model/problem-kinds.ts";
import { MAX_CURSOR_CHARS } from "./cursor.ts";
import { badParameter, QueryFault } from "./fault.ts";
import { MAX_REVISION, nameAnnotation, SCALAR_FIELDS } from "./fields.ts";
import {
  annotationFilter,
  conflictFilter,
  driftFilter,
  type Filter,
  linkEndFilter,
  sourceFilter,
} from "./filter.ts";
import { DIRECTIONS } from "./incidents.ts";
import type { QueryParameter } from "./parameter.ts";
import {
  ANY_DRIFT,
  DEFAULT_HOPS,
  MAX_HOPS,
  parseBoolean,
  parseDrift,
  parseFields,
  parseInteger,
  parseIpFilter,
  parseScalarFilter,
  parseSort,
  parseTextFilter,
} from "./parameter-values.ts";
import { isProblemFilter, parseProblemFilter } from "./problems/problem-filter.ts";
import type { QueryBuilder } from "./query.ts";
import { MIN_REVISION, parseMinRevision, REVISION_OR_TIME_PATTERN } from "./revision.ts";

const MAX_TIMELINE_SPANS = 1000;

/** IPv4 or IPv6, alone or with the length of a prefix. What it matches may still be no address, such as 10.0.0.999. */
const IP_PATTERN = "^(\\d{1,3}(\\.\\d{1,3}){3}|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)(/\\d{1,3})?$";

/** Reads that are not lists of entities: the topology, one entity, another single item, paths, problems, or a search. */
const SINGLE_READS = ["topology", "entity", "item", "paths", "problems", "search"] as const;
type SingleRead = (typeof SINGLE_READS)[number];
type ReadType = "list" | SingleRead;
/** What a query is about. A kind means the list of that kind. */
export type QueryTarget = Kind | SingleRead;

/** Adds one parameter to a query, or returns why it cannot. */
type AddParameter = (query: QueryBuilder, parameter: QueryParameter) => QueryFault | undefined;

export interface ParamHandler {
  readonly add: AddParameter;
  /** Whether it takes several values, and so may be repeated. */
  readonly isList: boolean;
  /** Of a boolean or an enumeration: its values, by their lower-case spelling. */
  readonly spellings: ReadonlyMap<string, string> | undefined;
}

interface ParameterRow {
  readonly on: readonly ReadType[];
  /** The kinds whose lists have it; all when left out. */
  readonly kinds?: readonly Kind[];
  readonly description: string;
  /** The JSON schema of a value; any text when left out. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Whether commas separate several values. */
  readonly multiple?: boolean;
  /** Left out where a parameter is parsed together with others, after all handlers ran. */
  readonly handle?: AddParameter;
  /** For parameters whose values depend on the kind. */
  readonly handleFor?: (kind: Kind) => AddParameter;
}

const addFilter =
  (parse: (parameter: QueryParameter) => Filter | QueryFault): AddParameter =>
  (query, parameter) => {
    const filter = parse(parameter);
    if (filter instanceof QueryFault) return filter;
    query.filters.push(filter);
    return undefined;
  };

type SettableField = Exclude<
  keyof QueryBuilder,
  "parameters" | "pageLimit" | "acceptsNames" | "find" | "has"
>;

const setField =
  <F extends SettableField>(
    field: F,
    parse: (parameter: QueryParameter, query: QueryBuilder) => QueryBuilder[F] | QueryFault,
  ): AddParameter =>
  (query, parameter) => {
    const value = parse(parameter, query);
    if (value instanceof QueryFault) return value;
    query[field] = value;
    return undefined;
  };

const setText = (field: "cursor" | "at" | "since" | "diff" | "from" | "to"): AddParameter =>
  setField(field, ({ value }) => value);

const addProblemFilter: AddParameter = (query, parameter) => {
  const filter = parseProblemFilter(parameter);
  if (filter instanceof QueryFault) return filter;
  if (filter) query.problemFilters.push(filter);
  return undefined;
};

const addTextFilter = addFilter(parseTextFilter);
const addText: AddParameter = (query, parameter) => {
  query.text = parameter.value;
  return addTextFilter(query, parameter);
};

/** A filter, and the only parameter that adds what is missing to what is read. */
const addDrift: AddParameter = (query, parameter) => {
  const states = parseDrift(parameter);
  if (states instanceof QueryFault) return states;
  query.drift = states;
  query.includesMissing = states.includes("missing");
  query.filters.push(driftFilter(states));
  return undefined;
};

/**
 * Parameters that are not fields of an entity. Where a field has the same name (`port` on ports), the field wins. The
 * order is the order in the messages of faults and in the OpenAPI document.
 */
export const PARAMETERS: Readonly<Record<string, ParameterRow>> = {
  kind: {
    on: ["problems"],
    description: "The kind of problem; several with commas.",
    schema: { $id: "ProblemKind", enum: PROBLEM_KINDS },
    multiple: true,
  },
  severity: {
    on: ["problems"],
    description: "How bad the problem is; several with commas.",
    schema: { $id: "ProblemSeverity", enum: PROBLEM_SEVERITIES },
    multiple: true,
  },
  resource: {
    on: ["problems"],
    description: "What the problem is about; several with commas.",
    schema: { $id: "ProblemResource", enum: PROBLEM_RESOURCES },
    multiple: true,
  },
  causedBy: {
    on: ["problems"],
    description:
      "The id of the problem that the problem follows from; several with commas. Empty: problems that follow from no other.",
    multiple: true,
  },
  q: {
    on: ["list", "search", "problems"],
    description:
      "Of a list: a substring of any string field, upper or lower case. Of a problem: of its id or text. Of the search: what to search for.",
    schema: { type: "string", minLength: 1 },
    handle: addText,
  },
  name: {
    on: ["list"],
    description: "The same as `annotations.name`, of ports as `annotations.portName`; several with commas.",
    multiple: true,
    handleFor: (kind) => addFilter(({ values }) => annotationFilter(nameAnnotation(kind), values)),
  },
  source: {
    on: ["list", "problems"],
    description: "Claimed by that source; several with commas.",
    multiple: true,
    handle: addFilter(({ values }) => sourceFilter(values)),
  },
  conflict: {
    on: ["list"],
    description: "True: flagged with conflicting claims (`annotations.conflict`); false: not flagged.",
    schema: { type: "boolean" },
    handle: addFilter((parameter) => {
      const wanted = parseBoolean(parameter);
      return wanted instanceof QueryFault ? wanted : conflictFilter(wanted);
    }),
  },
  drift: {
    on: ["list", "topology"],
    description:
      "Only what differs from the intended network in one of these ways; `any` is all of them. What is missing is listed only with it. Of the topology: how many there are.",
    schema: { $id: "DriftFilter", enum: [...DRIFT_STATES, ANY_DRIFT] },
    multiple: true,
    handle: addDrift,
  },
  ip: {
    on: ["list"],
    kinds: ["hosts"],
    description: "An address, or a CIDR block that contains it; several with commas.",
    schema: { type: "string", pattern: IP_PATTERN, examples: ["10.0.0.0/24"] },
    multiple: true,
    handle: addFilter(parseIpFilter),
  },
  device: {
    on: ["list", "problems"],
    kinds: ["links", "hosts"],
    description:
      "Links with that device at an end; hosts located there; problems about it. An id, an alias or a name.",
    multiple: true,
  },
  port: {
    on: ["list"],
    kinds: ["links", "hosts"],
    description: "With `device`: that port of it.",
    schema: { type: "string", pattern: "^(\\d{1,10}|local|controller|\\[.*\\]\\(\\d{1,10}\\))$" },
    multiple: true,
  },
  direction: {
    on: ["list"],
    kinds: ["links"],
    description: "With `device`: ingress, egress or all (default).",
    schema: { $id: "Direction", enum: ["ingress", "egress", "all"] },
  },
  src: {
    on: ["list"],
    kinds: ["links"],
    description: "The device the link comes from: its id, an alias or its name.",
    multiple: true,
    handle: addFilter(({ values }) => linkEndFilter(["src"], values, undefined)),
  },
  dst: {
    on: ["list"],
    kinds: ["links"],
    description: "The device the link goes to: its id, an alias or its name.",
    multiple: true,
    handle: addFilter(({ values }) => linkEndFilter(["dst"], values, undefined)),
  },
  around: {
    on: ["list", "topology"],
    description:
      "Only what lies within `hops` links of this device (its id, an alias or its name) or host (its id).",
    schema: { type: "string", minLength: 1 },
  },
  hops: {
    on: ["list", "topology"],
    description: `With \`around\`: how many links away (0 to ${MAX_HOPS}, default ${DEFAULT_HOPS}).`,
    schema: { type: "integer", minimum: 0, maximum: MAX_HOPS },
  },
  fields: {
    on: ["list"],
    description: "Only these top-level fields, separated by commas.",
    multiple: true,
    handleFor: (kind) => setField("fields", (parameter) => parseFields(kind, parameter)),
  },
  sort: {
    on: ["list"],
    description:
      "One or more scalar fields, `name`, annotations (`annotations.KEY`), `src` and `dst` of links, `location` of hosts (by the name of the device, then by port), separated by commas; `-` before one for descending.",
    multiple: true,
    handleFor: (kind) => setField("sort", (parameter, query) => parseSort(kind, parameter, query)),
  },
  limit: {
    on: ["list", "paths", "search", "problems"],
    description: "The maximum number of entities on a page.",
    schema: { type: "integer", minimum: 1 },
    handle: setField("limit", (parameter, { pageLimit }) => parseInteger(parameter, 1, pageLimit)),
  },
  cursor: {
    on: ["list", "paths", "problems"],
    description: "The `next` of the page before.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]+$", maxLength: MAX_CURSOR_CHARS },
    handle: setText("cursor"),
  },
  format: {
    on: ["list", ...SINGLE_READS],
    description: "A representation; wins over `Accept`.",
    handle: setField("format", ({ value }) => value.toLowerCase()),
  },
  [MIN_REVISION]: {
    on: ["list", ...SINGLE_READS],
    description:
      "Wait briefly until the view has that revision. The header `Gazetteer-Min-Revision` means the same.",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: MAX_REVISION },
    handle: setField("minRevision", ({ value }) => parseMinRevision(value)),
  },
  at: {
    on: ["list", ...SINGLE_READS],
    description: "The state at an RFC 3339 time, such as `2026-11-15T03:00:00Z`, or a revision.",
    schema: { type: "string", pattern: `^${REVISION_OR_TIME_PATTERN}$`, examples: ["0"] },
    handle: setText("at"),
  },
  since: {
    on: ["list", "topology", "problems"],
    description: "What changed after that revision; of problems as a stream only.",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: MAX_REVISION },
    handle: setText("since"),
  },
  fold: {
    on: ["list", "topology"],
    description: "With `since`: true gives only the last change of each entity (default false).",
    schema: { type: "boolean" },
    handle: setField("fold", parseBoolean),
  },
  diff: {
    on: ["list", "topology"],
    description: "`A..B`: what differs between two states, each a revision or an RFC 3339 time.",
    schema: {
      type: "string",
      pattern: `^${REVISION_OR_TIME_PATTERN}\\.\\.(${REVISION_OR_TIME_PATTERN})?$`,
      examples: ["0.."],
    },
    handle: setText("diff"),
  },
  count: {
    on: ["list"],
    kinds: ["hosts"],
    description: "`device`: how many of the hosts are located at each device, in place of the hosts.",
    schema: { $id: "CountBy", enum: ["device"] },
    handle: setField("count", ({ name, value }) =>
      value === "device" ? value : badParameter(name, `is ${quote(value)}; it must be device.`),
    ),
  },
  explain: {
    on: ["entity", "paths"],
    description:
      "True gives what each source claims of it, and why each field has its value; of paths, how many there are and what they use, or why there is none (default false).",
    schema: { type: "boolean" },
    handle: setField("explain", parseBoolean),
  },
  timeline: {
    on: ["topology"],
    description: `How many changes there were, in this many equal spans of time (1 to ${MAX_TIMELINE_SPANS}).`,
    schema: { type: "integer", minimum: 1, maximum: MAX_TIMELINE_SPANS },
    handle: setField("timeline", (parameter) => parseInteger(parameter, 1, MAX_TIMELINE_SPANS)),
  },
  incident: {
    on: ["topology"],
    description: "The incident before or after the moment of `at`, by default now.",
    schema: { $id: "IncidentDirection", enum: DIRECTIONS },
    handle: setField("incident", ({ name, value }) => {
      const direction = DIRECTIONS.find((known) => known === value);
      return direction ?? badParameter(name, `is ${quote(value)}; it must be ${DIRECTIONS.join(" or ")}.`);
    }),
  },
  from: {
    on: ["topology"],
    description: "With `timeline`: from when (RFC 3339).",
    schema: { type: "string", format: "date-time" },
    handle: setText("from"),
  },
  to: {
    on: ["topology"],
    description: "With `timeline`: until when (RFC 3339).",
    schema: { type: "string", format: "date-time" },
    handle: setText("to"),
  },
};

export const kindOf = (target: QueryTarget): Kind | undefined => (isSingleRead(target) ? undefined : target);

const isSingleRead = (target: QueryTarget): target is SingleRead =>
  (SINGLE_READS as readonly string[]).includes(target);

const handledWithOthers: AddParameter = () => undefined;

const HANDLERS: ReadonlyMap<QueryTarget, ReadonlyMap<string, ParamHandler>> = new Map(
  [...KINDS, ...SINGLE_READS].map((target) => [target, createHandlers(target)] as const),
);

const NO_HANDLERS: ReadonlyMap<string, ParamHandler> = new Map();

/** The handlers of all parameters of a read, by name: fields of the kind first, then the table in its order. */
export const handlersOf = (target: QueryTarget): ReadonlyMap<string, ParamHandler> =>
  HANDLERS.get(target) ?? NO_HANDLERS;

function createHandlers(target: QueryTarget): Map<string, ParamHandler> {
  const kind = kindOf(target);
  const readType: ReadType = isSingleRead(target) ? target : "list";
  const handlers = new Map<string, ParamHandler>();
  for (const [name, rule] of kind ? SCALAR_FIELDS[kind] : []) {
    if (!kind) continue;
    const add = addFilter((parameter) => parseScalarFilter(kind, rule, parameter));
    handlers.set(name, { add, isList: true, spellings: spellingsOf(rule.schema) });
  }
  for (const [name, row] of Object.entries(PARAMETERS)) {
    const { on, kinds, handle, handleFor, multiple: isList = false, schema = {} } = row;
    const exists = on.includes(readType) && (!kinds || !kind || kinds.includes(kind));
    if (!exists || handlers.has(name)) continue;
    const isOfProblems = target === "problems" && isProblemFilter(name);
    const add = isOfProblems
      ? addProblemFilter
      : (handle ?? (kind && handleFor?.(kind)) ?? handledWithOthers);
    handlers.set(name, { add, isList, spellings: spellingsOf(schema) });
  }
  return handlers;
}

function spellingsOf(schema: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> | undefined {
  const values = schema.type === "boolean" ? [true, false] : schema.enum;
  if (!Array.isArray(values)) return undefined;
  return new Map(values.map((value) => [String(value).toLowerCase(), String(value)]));
}
