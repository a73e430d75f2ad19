/**
 * The table of query parameters: the form of each value, and what the parameter adds to a query. A read chooses its
 * parameters: the parser, the faults that list what exists, and the OpenAPI document all read its `ParameterSet`. To add a
 * parameter, add a row (and, where it is more than a filter, a field of the query), and name it in the reads that have it.
 */
import { quote } from "../lib/error-text.ts";
import { DRIFT_STATES } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
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

/** IPv4 or IPv6, alone or with a prefix length. A text that it matches may still be no address, such as 10.0.0.999. */
const IP_PATTERN = "^(\\d{1,3}(\\.\\d{1,3}){3}|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)(/\\d{1,3})?$";

/** Adds one parameter to a query, or returns the fault. */
type AddParameter = (query: QueryBuilder, parameter: QueryParameter) => QueryFault | undefined;

/** The parameters of one kind of read. */
export interface ParameterSet {
  /** The kind of the listed entities. Their annotations are parameters too. */
  readonly kind: Kind | undefined;
  /** The fields of the kind first, then the rows of the table in its order. */
  readonly byName: ReadonlyMap<string, SetParameter>;
}

export interface SetParameter {
  readonly add: AddParameter;
  /** Whether the parameter takes several values, and so may be repeated. */
  readonly isList: boolean;
  /** The values of a boolean or an enumeration, by their lower-case spelling. */
  readonly spellings: ReadonlyMap<string, string> | undefined;
  /** The row of the table; undefined for a field of an entity. */
  readonly row: ParameterRow | undefined;
}

export interface ParameterRow {
  readonly description: string;
  /** The JSON schema of a value. Any text is allowed when it is left out. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Whether commas separate several values. */
  readonly multiple?: boolean;
  /** Left out where a parameter is parsed together with others, after all handlers have run. */
  readonly handle?: AddParameter;
  /** Creates the handler of a parameter whose values depend on the kind. */
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
  "parameters" | "pageLimit" | "acceptsNames" | "hasCombined" | "find" | "has"
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

/** Adds the filter `drift`, the only parameter that includes missing entities in a read. */
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
export const PARAMETERS = {
  kind: {
    description: "The kind of problem; several with commas.",
    schema: { $id: "ProblemKind", enum: PROBLEM_KINDS },
    multiple: true,
  },
  severity: {
    description: "How bad the problem is; several with commas.",
    schema: { $id: "ProblemSeverity", enum: PROBLEM_SEVERITIES },
    multiple: true,
  },
  resource: {
    description: "What the problem is about; several with commas.",
    schema: { $id: "ProblemResource", enum: PROBLEM_RESOURCES },
    multiple: true,
  },
  causedBy: {
    description:
      "The id of the problem that the problem follows from; several with commas. Empty: problems that follow from no other.",
    multiple: true,
  },
  q: {
    description:
      "Of a list: words, each a substring of any string field, upper or lower case; or a MAC address in any spelling, an IP address or a CIDR block. Of a problem: a substring of its id or text. Of the search: what to search for.",
    schema: { type: "string", minLength: 1 },
    handle: addText,
  },
  name: {
    description: "The same as `annotations.name`, of ports as `annotations.portName`; several with commas.",
    multiple: true,
    handleFor: (kind) => addFilter(({ values }) => annotationFilter(nameAnnotation(kind), values)),
  },
  source: {
    description: "Claimed by that source; several with commas.",
    multiple: true,
    handle: addFilter(({ values }) => sourceFilter(values)),
  },
  conflict: {
    description: "True: flagged with contradictory reports (`annotations.conflict`); false: not flagged.",
    schema: { type: "boolean" },
    handle: addFilter((parameter) => {
      const wanted = parseBoolean(parameter);
      return wanted instanceof QueryFault ? wanted : conflictFilter(wanted);
    }),
  },
  drift: {
    description:
      "Only what differs from the intended network in one of these ways; `any` is all of them. What is missing is listed only with it. Of the topology: how many there are.",
    schema: { $id: "DriftFilter", enum: [...DRIFT_STATES, ANY_DRIFT] },
    multiple: true,
    handle: addDrift,
  },
  ip: {
    description: "An address, or a CIDR block that contains it; several with commas.",
    schema: { type: "string", pattern: IP_PATTERN, examples: ["10.0.0.0/24"] },
    multiple: true,
    handle: addFilter(parseIpFilter),
  },
  device: {
    description:
      "Links with that device at an end; hosts located there; problems about it. An id, an alias or a name.",
    multiple: true,
  },
  port: {
    description: "With `device`: that port of it.",
    schema: { type: "string", pattern: "^(\\d{1,10}|local|controller|\\[.*\\]\\(\\d{1,10}\\))$" },
    multiple: true,
  },
  direction: {
    description: "With `device`: ingress, egress or all (default).",
    schema: { $id: "Direction", enum: ["ingress", "egress", "all"] },
  },
  src: {
    description: "The device the link comes from: its id, an alias or its name.",
    multiple: true,
    handle: addFilter(({ values }) => linkEndFilter(["src"], values, undefined)),
  },
  dst: {
    description: "The device the link goes to: its id, an alias or its name.",
    multiple: true,
    handle: addFilter(({ values }) => linkEndFilter(["dst"], values, undefined)),
  },
  around: {
    description:
      "Only what lies within `hops` links of this device (its id, an alias or its name) or host (its id).",
    schema: { type: "string", minLength: 1 },
  },
  hops: {
    description: `With \`around\`: how many links away (0 to ${MAX_HOPS}, default ${DEFAULT_HOPS}).`,
    schema: { type: "integer", minimum: 0, maximum: MAX_HOPS },
  },
  fields: {
    description: "Only these top-level fields, separated by commas.",
    multiple: true,
    handleFor: (kind) => setField("fields", (parameter) => parseFields(kind, parameter)),
  },
  sort: {
    description:
      "One or more scalar fields, `name`, annotations (`annotations.KEY`), `src` and `dst` of links, `location` of hosts (by the name of the device, then by port), separated by commas; `-` before one for descending.",
    multiple: true,
    handleFor: (kind) => setField("sort", (parameter, query) => parseSort(kind, parameter, query)),
  },
  limit: {
    description: "The maximum number of entities on a page.",
    schema: { type: "integer", minimum: 1 },
    handle: setField("limit", (parameter, { pageLimit }) => parseInteger(parameter, 1, pageLimit)),
  },
  cursor: {
    description: "The `next` of the page before.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]+$", maxLength: MAX_CURSOR_CHARS },
    handle: setText("cursor"),
  },
  format: {
    description: "A representation; wins over `Accept`.",
    handle: setField("format", ({ value }) => value.toLowerCase()),
  },
  [MIN_REVISION]: {
    description:
      "Wait briefly until the view has that revision. The header `Gazetteer-Min-Revision` means the same.",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: MAX_REVISION },
    handle: setField("minRevision", ({ value }) => parseMinRevision(value)),
  },
  at: {
    description: "The state at an RFC 3339 time, such as `2026-11-15T03:00:00Z`, or a revision.",
    schema: { type: "string", pattern: `^${REVISION_OR_TIME_PATTERN}$`, examples: ["0"] },
    handle: setText("at"),
  },
  since: {
    description:
      "The revision after which changes are returned. For problems it is available only on the stream.",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: MAX_REVISION },
    handle: setText("since"),
  },
  fold: {
    description: "With `since`: true gives only the last change of each entity (default false).",
    schema: { type: "boolean" },
    handle: setField("fold", parseBoolean),
  },
  diff: {
    description: "`A..B`: what differs between two states, each a revision or an RFC 3339 time.",
    schema: {
      type: "string",
      pattern: `^${REVISION_OR_TIME_PATTERN}\\.\\.(${REVISION_OR_TIME_PATTERN})?$`,
      examples: ["0.."],
    },
    handle: setText("diff"),
  },
  count: {
    description: "`device`: how many of the hosts are located at each device, in place of the hosts.",
    schema: { $id: "CountBy", enum: ["device"] },
    handle: setField("count", ({ name, value }) =>
      value === "device" ? value : badParameter(name, `is ${quote(value)}; it must be device.`),
    ),
  },
  explain: {
    description:
      "True gives what each source claims of it, and why each field has its value; of paths, how many there are and what they use, or why there is none (default false).",
    schema: { type: "boolean" },
    handle: setField("explain", parseBoolean),
  },
  timeline: {
    description: `How many changes there were, in this many equal spans of time (1 to ${MAX_TIMELINE_SPANS}).`,
    schema: { type: "integer", minimum: 1, maximum: MAX_TIMELINE_SPANS },
    handle: setField("timeline", (parameter) => parseInteger(parameter, 1, MAX_TIMELINE_SPANS)),
  },
  incident: {
    description: "The incident before or after the moment of `at`, by default now.",
    schema: { $id: "IncidentDirection", enum: DIRECTIONS },
    handle: setField("incident", ({ name, value }) => {
      const direction = DIRECTIONS.find((known) => known === value);
      return direction ?? badParameter(name, `is ${quote(value)}; it must be ${DIRECTIONS.join(" or ")}.`);
    }),
  },
  from: {
    description: "With `timeline`: from when (RFC 3339).",
    schema: { type: "string", format: "date-time" },
    handle: setText("from"),
  },
  to: {
    description: "With `timeline`: until when (RFC 3339).",
    schema: { type: "string", format: "date-time" },
    handle: setText("to"),
  },
} satisfies Readonly<Record<string, ParameterRow>>;

export type ParameterName = keyof typeof PARAMETERS;

const handledWithOthers: AddParameter = (query) => {
  query.hasCombined = true;
  return undefined;
};

/**
 * The parameters that `names` lists, in the order of the table. `selects` is the kind of records that their filters select:
 * each scalar field of an entity kind is a parameter too.
 */
export function parameterSet(names: readonly ParameterName[], selects?: Kind | "problems"): ParameterSet {
  const kind = selects === "problems" ? undefined : selects;
  const listed: readonly string[] = names;
  const byName = new Map<string, SetParameter>();
  for (const [name, rule] of kind ? SCALAR_FIELDS[kind] : []) {
    if (!kind) continue;
    const add = addFilter((parameter) => parseScalarFilter(kind, rule, parameter));
    byName.set(name, { add, isList: true, spellings: spellingsOf(rule.schema), row: undefined });
  }
  for (const [name, row] of Object.entries<ParameterRow>(PARAMETERS)) {
    if (!listed.includes(name) || byName.has(name)) continue;
    const { handle, handleFor, multiple: isList = false, schema = {} } = row;
    const add =
      selects === "problems" && isProblemFilter(name)
        ? addProblemFilter
        : (handle ?? (kind && handleFor?.(kind)) ?? handledWithOthers);
    byName.set(name, { add, isList, spellings: spellingsOf(schema), row });
  }
  return { kind, byName };
}

function spellingsOf(schema: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> | undefined {
  const values = schema.type === "boolean" ? [true, false] : schema.enum;
  if (!Array.isArray(values)) return undefined;
  return new Map(values.map((value) => [String(value).toLowerCase(), String(value)]));
}
