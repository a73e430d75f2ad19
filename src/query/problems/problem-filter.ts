/** The filters of problems. Each is a function of the meaning of device names in a state. */
import { quote } from "../../lib/error-text.ts";
import { deviceKey } from "../../model/ids.ts";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { PROBLEM_KINDS, PROBLEM_RESOURCES, PROBLEM_SEVERITIES } from "../../model/problem-kinds.ts";
import { badParameter, type QueryFault } from "../fault.ts";
import type { QueryParameter } from "../parameter.ts";
import type { ListedProblem } from "./problem-list.ts";

/** Resolves names of devices. */
export interface NamesDevices {
  shownId(kind: "devices", id: string): string;
}
export type MatchesProblem = (problem: ListedProblem) => boolean;
export type ProblemFilter = (devices: NamesDevices) => MatchesProblem;

type ParseFilter = (parameter: QueryParameter) => ProblemFilter | QueryFault;

/** Parses a filter for a field that equals one of the values, each of which must be one of `allowed`. */
const oneOf =
  (field: "kind" | "severity" | "resource", allowed: readonly string[]): ParseFilter =>
  ({ name, values }) => {
    const unknown = values.find((value) => !allowed.includes(value));
    if (unknown !== undefined)
      return badParameter(name, `is ${quote(unknown)}; it must be one of ${allowed.join(", ")}.`);
    return () => (listed) => values.includes(listed.problem[field]);
  };

/** Returns a parser of filters that need no other check of their values. */
const anyOf =
  (matches: (problem: NetworkProblem, values: readonly string[]) => boolean): ParseFilter =>
  ({ values }) =>
  () =>
  ({ problem }) =>
    matches(problem, values);

const parseDeviceFilter: ParseFilter =
  ({ values }) =>
  (devices) => {
    const wanted = new Set(values.map((id) => deviceKey(devices.shownId("devices", id))));
    return ({ problem }) => problem.devices.some((id) => wanted.has(deviceKey(id)));
  };

const PARSERS: ReadonlyMap<string, ParseFilter> = new Map<string, ParseFilter>([
  ["kind", oneOf("kind", PROBLEM_KINDS)],
  ["severity", oneOf("severity", PROBLEM_SEVERITIES)],
  ["resource", oneOf("resource", PROBLEM_RESOURCES)],
  ["source", anyOf(({ sources }, values) => sources.some((source) => values.includes(source)))],
  ["device", parseDeviceFilter],
  // An empty value selects problems that follow from no other.
  ["causedBy", anyOf(({ causedBy = "" }, values) => values.includes(causedBy))],
  ["q", parseTextFilter],
]);

function parseTextFilter({ name, value }: QueryParameter): ProblemFilter | QueryFault {
  if (value === "") return badParameter(name, "is empty; give some text to look for.");
  const wanted = value.toLowerCase();
  return () =>
    ({ problem: { id, text } }) =>
      id.toLowerCase().includes(wanted) || text.toLowerCase().includes(wanted);
}

/** Returns undefined for a parameter that is not a filter of problems. */
export function parseProblemFilter(parameter: QueryParameter): ProblemFilter | QueryFault | undefined {
  return PARSERS.get(parameter.name)?.(parameter);
}

export const isProblemFilter = (name: string): boolean => PARSERS.has(name);
