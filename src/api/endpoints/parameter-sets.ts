/** The parameters that each kind of read has, chosen from the table of parameters. */
import type { Kind } from "../../model/ids.ts";
import { type ParameterName, type ParameterSet, parameterSet } from "../../query/parameters.ts";

const ITEM: readonly ParameterName[] = ["format", "min-revision", "at"];
const CHANGES: readonly ParameterName[] = ["since", "fold", "diff"];
const LIST: readonly ParameterName[] = [
  ...(["q", "name", "source", "conflict", "drift", "around", "hops", "fields", "sort"] as const),
  ...(["limit", "cursor"] as const),
  ...ITEM,
  ...CHANGES,
];

export type ReadTarget = Kind | "topology" | "entity" | "item" | "paths" | "problems" | "search";

export const PARAMETER_SETS: Readonly<Record<ReadTarget, ParameterSet>> = {
  devices: parameterSet(LIST, "devices"),
  ports: parameterSet(LIST, "ports"),
  links: parameterSet([...LIST, "device", "port", "direction", "src", "dst"], "links"),
  hosts: parameterSet([...LIST, "ip", "device", "port", "count"], "hosts"),
  topology: parameterSet([
    ...(["drift", "around", "hops", "timeline", "incident", "from", "to"] as const),
    ...ITEM,
    ...CHANGES,
  ]),
  entity: parameterSet([...ITEM, "explain"]),
  item: parameterSet(ITEM),
  paths: parameterSet([...ITEM, "limit", "cursor", "explain"]),
  problems: parameterSet(
    [
      "kind",
      "severity",
      "resource",
      "causedBy",
      "q",
      "source",
      "device",
      "limit",
      "cursor",
      "since",
      ...ITEM,
    ],
    "problems",
  ),
  search: parameterSet([...ITEM, "q", "limit"]),
};
