import { describe, expect, test } from "bun:test";
import { QueryFault, type QueryFaultCode } from "./fault.ts";
import { createParameter } from "./parameter.ts";
import { type ParameterName, parameterSet } from "./parameters.ts";
import { parseQuery } from "./parse-query.ts";
import type { ParsedQuery } from "./query.ts";

const PAGE: readonly ParameterName[] = [
  "q",
  "conflict",
  "drift",
  "around",
  "hops",
  "fields",
  "sort",
  "limit",
  "cursor",
];
const HISTORY: readonly ParameterName[] = ["format", "at", "since", "fold", "diff"];
const SETS = {
  devices: parameterSet([...PAGE, ...HISTORY], "devices"),
  ports: parameterSet([...PAGE, ...HISTORY], "ports"),
  links: parameterSet([...PAGE, ...HISTORY, "device", "port", "direction"], "links"),
  hosts: parameterSet([...PAGE, ...HISTORY, "ip", "device", "port", "count"], "hosts"),
  topology: parameterSet(["hops", "around", "incident", ...HISTORY]),
  entity: parameterSet(["explain", "format", "at"]),
  item: parameterSet(["format", "at"]),
  problems: parameterSet(["severity"], "problems"),
} as const;
type Read = keyof typeof SETS;

test("a set has the fields of its kind, then its parameters in the order of the table", () => {
  const names = [...parameterSet(["at", "limit", "q"], "devices").byName.keys()];
  expect(names).toContain("mfr");
  expect(names.slice(-3)).toEqual(["q", "limit", "at"]);
  expect([...parameterSet(["at", "limit"]).byName.keys()]).toEqual(["limit", "at"]);
});

function parse(target: Read, ...pairs: [name: string, value: string][]): ParsedQuery | QueryFault {
  const parameters = pairs.map(([name, value]) => {
    const parameter = createParameter(name, value);
    if (parameter instanceof QueryFault) throw new Error(parameter.detail);
    return parameter;
  });
  return parseQuery(parameters, SETS[target], { pageLimit: 100, acceptsNames: true });
}

function parseGood(target: Read, ...pairs: [name: string, value: string][]): ParsedQuery {
  const query = parse(target, ...pairs);
  if (query instanceof QueryFault) throw new Error(query.detail);
  return query;
}

const FAULTS: [target: Read, pairs: [string, string][], parameter: string, code: QueryFaultCode][] = [
  ["devices", [["typ", "SWITCH"]], "typ", "bad-parameter"],
  ["devices", [["limit", "101"]], "limit", "bad-parameter"],
  ["devices", [["cursor", ""]], "cursor", "bad-cursor"],
  ["item", [["limit", "1"]], "limit", "bad-parameter"],
  ["topology", [["annotations.name", "x"]], "annotations.name", "bad-parameter"],
  ["hosts", [["port", "1"]], "port", "bad-parameter"],
  ["links", [["hops", "2"]], "hops", "bad-parameter"],
  ["links", [["direction", "egress"]], "direction", "bad-parameter"],
  ["links", [["direction", "sideways"]], "direction", "bad-parameter"],
  ["links", [["fold", "true"]], "fold", "bad-parameter"],
  [
    "devices",
    [
      ["since", "1"],
      ["at", "1"],
    ],
    "at",
    "bad-parameter",
  ],
  [
    "devices",
    [
      ["limit", "1"],
      ["limit", "2"],
    ],
    "limit",
    "bad-parameter",
  ],
];

test.each(FAULTS)("%s %j: the fault names %s", (target, pairs, parameter, code) => {
  expect(parse(target, ...pairs)).toMatchObject({ parameter, code, detail: expect.any(String) });
});

test.each<[target: Read, name: string, value: string]>([
  ["links", "hops", "1"],
  ["topology", "hops", "1"],
  ["links", "direction", "all"],
  ["links", "direction", "ALL"],
  ["hosts", "fold", "false"],
])("%s: the default %s=%s is accepted alone and changes nothing", (target, name, value) => {
  const { around, filters, fold } = parseGood(target, [name, value]);
  expect({ around, filters, fold }).toEqual({ around: undefined, filters: [], fold: false });
});

test("a parameter with more than 1000 values is a fault", () => {
  expect(createParameter("id", "x,".repeat(1000))).toBeInstanceOf(QueryFault);
});

test("a comma separates values unless a backslash is before it", () => {
  expect(createParameter("mfr", "a,b\\,c")).toEqual({ name: "mfr", value: "a,b\\,c", values: ["a", "b,c"] });
});

test.each<[target: Read, given: [string, string][], same: [string, string][]]>([
  ["devices", [["available", "True"]], [["available", "true"]]],
  ["devices", [["type", "switch,Fiber_Switch,SWITCH"]], [["type", "SWITCH,FIBER_SWITCH"]]],
  ["ports", [["type", "COPPER"]], [["type", "copper"]]],
  ["links", [["conflict", "FALSE"]], [["conflict", "false"]]],
  ["devices", [["drift", "Missing"]], [["drift", "missing"]]],
  ["hosts", [["count", "Device"]], [["count", "device"]]],
  ["topology", [["incident", "NEXT"]], [["incident", "next"]]],
  ["entity", [["explain", "TRUE"]], [["explain", "true"]]],
  ["topology", [["format", "GraphML"]], [["format", "graphml"]]],
  ["problems", [["severity", "Major"]], [["severity", "major"]]],
  [
    "devices",
    [
      ["type", "SWITCH"],
      ["q", "a"],
      ["type", "Router"],
    ],
    [
      ["type", "SWITCH,ROUTER"],
      ["q", "a"],
    ],
  ],
  [
    "hosts",
    [
      ["ip", "10.0.0.1"],
      ["ip", "10.0.0.2"],
    ],
    [["ip", "10.0.0.1,10.0.0.2"]],
  ],
  [
    "links",
    [
      ["device", "a"],
      ["device", "b"],
    ],
    [["device", "a,b"]],
  ],
  [
    "devices",
    [
      ["annotations.site", "a"],
      ["annotations.site", "b"],
    ],
    [["annotations.site", "a,b"]],
  ],
  [
    "devices",
    [
      ["sort", "-mfr"],
      ["sort", "id"],
    ],
    [["sort", "-mfr,id"]],
  ],
  [
    "devices",
    [
      ["fields", "type"],
      ["fields", "id"],
    ],
    [["fields", "id,type"]],
  ],
])("%s: %j is the same as %j", (target, given, same) => {
  const query = (pairs: [string, string][]) => ({
    ...parseGood(target, ...pairs),
    parameters: undefined,
    fingerprint: undefined,
    // Filters are compared by what they are made of, problem filters by their effect elsewhere.
    filters: JSON.stringify(parseGood(target, ...pairs).filters),
    problemFilters: parseGood(target, ...pairs).problemFilters.length,
  });
  expect(query(given)).toEqual(query(same));
});

test("values of a parameter that is given twice are counted together", () => {
  const half = Array.from({ length: 600 }, (_, i) => i).join(",");
  expect(parse("devices", ["mfr", half], ["mfr", half])).toMatchObject({ parameter: "mfr" });
});

test("where a field and a parameter have the same name, the field wins", () => {
  expect(parseGood("ports", ["port", "1"]).filters).toHaveLength(1);
  expect(parse("links", ["port", "1"])).toBeInstanceOf(QueryFault);
});

describe("fingerprint", () => {
  test("is the same for another order, page and limit", () => {
    const first = parseGood("devices", ["type", "SWITCH"], ["available", "true"], ["limit", "1"]);
    const second = parseGood("devices", ["available", "true"], ["type", "SWITCH"], ["cursor", "x"]);
    expect(first.fingerprint).toBe(second.fingerprint);
  });

  test("differs for another order of a repeated parameter", () => {
    const one = parseGood("devices", ["sort", "mfr"], ["sort", "hw"]);
    const two = parseGood("devices", ["sort", "hw"], ["sort", "mfr"]);
    expect(one.fingerprint).not.toBe(two.fingerprint);
  });

  test("differs for queries whose text would join to the same string", () => {
    const one = parseGood("devices", ["mfr", "a&sw=b"]);
    const two = parseGood("devices", ["mfr", "a"], ["sw", "b"]);
    expect(one.fingerprint).not.toBe(two.fingerprint);
  });
});
