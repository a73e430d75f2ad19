/** Part 4 of the interface: every query gives what the reference model gives on the whole list. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENTITY_SCHEMAS, type Link } from "../../src/model/entity.ts";
import { runs } from "../support/property.ts";
import { API, type Harness, openHarness, PROPERTY_TIMEOUT_MS } from "./harness.ts";
import { anyNetwork, anyStep, deviceId, HOSTILE, SAMPLE } from "./network.ts";
import { anyListQuery, type JsonEntity, listPath, matchesAll, queryPath } from "./reference-query.ts";

type Lists = Record<string, JsonEntity[]>;

test(
  "any combination of filters, fields and sort, in the current and in a historical state",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        anyNetwork,
        fc.array(anyStep, { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(anyListQuery, fc.infiniteStream(fc.nat()), fc.boolean()), {
          minLength: 15,
          maxLength: 15,
        }),
        async (first, steps, queries) => {
          await using h = await openHarness();
          for (const step of [first, ...steps]) await h.apply(step.changes, step.source);
          const middle = Math.ceil(h.view.revision / 2);
          for (const [query, numbers, isHistorical] of queries) {
            const { list, filters } = query;
            const at: Record<string, string> = isHistorical ? { at: String(middle) } : {};
            const whole = await h.json<Lists>(`${listPath(list)}?${new URLSearchParams(at)}`);
            const expected = (whole[list] ?? []).filter((entity) => matchesAll(filters, entity));
            expect(await h.json<Lists>(queryPath(query, at))).toEqual({ [list]: expected });

            const names = Object.keys(ENTITY_SCHEMAS[list].properties);
            const pick = () => names[(numbers.next().value ?? 0) % names.length] ?? "revision";
            const fields = [pick(), pick()];
            const scalar = names.filter((name) =>
              expected.every((entity) => typeof entity[name] !== "object"),
            );
            const sort = [pick(), pick()]
              .filter((name) => scalar.includes(name) && !["annotations", "sources", "drift"].includes(name))
              .filter(
                (name) =>
                  !["src", "dst", "location", "locations", "auxLocations", "ipAddresses", "aliases"].includes(
                    name,
                  ),
              )
              .map((name, i) => (i % 2 ? name : `-${name}`));
            const sorted = sortEntities(expected, sort).map((entity) => projectFields(entity, names, fields));
            const more = {
              ...at,
              fields: fields.join(","),
              ...(sort.length > 0 && { sort: sort.join(",") }),
            };
            expect(await h.json<Lists>(queryPath(query, more))).toEqual({ [list]: sorted });
          }
        },
      ),
      { numRuns: runs(40) },
    );
  },
  PROPERTY_TIMEOUT_MS,
);

function sortEntities(entities: readonly JsonEntity[], sort: readonly string[]): JsonEntity[] {
  return entities.toSorted((a, b) => {
    for (const key of sort) {
      const name = key.replace(/^-/, "");
      const [x, y] = [a[name] ?? "", b[name] ?? ""];
      if (x !== y) return (x < y ? -1 : 1) * (key.startsWith("-") ? -1 : 1);
    }
    return 0; // the list is already in order of id
  });
}

function projectFields(entity: JsonEntity, names: readonly string[], fields: readonly string[]): JsonEntity {
  return Object.fromEntries(
    names
      .filter((name) => fields.includes(name) && entity[name] !== undefined)
      .map((name) => [name, entity[name]]),
  );
}

test("entities are sorted by a field, not by an annotation or a text that looks like it", async () => {
  await using h = await openHarness();
  const claims = [
    { id: "dev:1", hw: 'a "hw":"z', annotations: { hw: "3" } },
    { id: "dev:2", hw: "c", annotations: { 'x"hw': "1" } },
    { id: "dev:3", hw: "b", annotations: { note: '"hw":"a"' } },
    { id: "dev:4", hw: "b\\", annotations: { hw: "2" } },
  ];
  await h.apply(claims.map((claim) => ({ op: "set", kind: "devices", claim })));
  const { devices } = await h.json<Lists>("devices?sort=-hw&fields=hw");
  expect(devices?.map(({ hw }) => hw)).toEqual(["c", "b\\", "b", 'a "hw":"z']);
});

describe("the sample network", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await openHarness();
    await h.replace(SAMPLE);
  });
  afterAll(() => h.stop());

  const ids = async (path: string): Promise<unknown[]> => {
    const [list] = Object.values(await h.json<Lists>(path));
    return (list ?? []).map((entity) => entity.id ?? `${entity.element}/${entity.port}`);
  };

  test.each([
    [`devices?around=${deviceId(1)}`, [1, 2, 4].map(deviceId).concat([deviceId(3)])],
    [`devices?around=${deviceId(5)}`, [4, 5].map(deviceId)],
    [`devices?around=${deviceId(5)}&hops=0`, [deviceId(5)]],
    [`devices?around=${deviceId(5)}&hops=2`, [1, 3, 4, 5].map(deviceId)],
    [`devices?around=0A:00:00:00:00:03/None`, [4, 5].map(deviceId)],
    [`devices?around=0a-00-00-00-00-03`, [4, 5].map(deviceId)],
    [`hosts?around=${deviceId(5)}&hops=0`, ["0A:00:00:00:00:03/None"]],
    [`hosts?around=${deviceId(1)}&hops=0&vlan=10`, ["00:00:00:00:00:02/10"]],
    [`links?around=${deviceId(5)}`, [`${deviceId(4)}/9-${deviceId(5)}/9`]],
    [`devices/ports?around=${deviceId(2)}&hops=0`, [`${deviceId(2)}/1`]],
    [`devices?around=${deviceId(1)}&type=SERVER`, [deviceId(4)]],
    [`devices?id=${deviceId(1)}, ${deviceId(2)}`, [deviceId(1)]],
    [`devices?annotations.name=${encodeURIComponent(HOSTILE.replace(",", "\\,"))}`, [deviceId(2)]],
    [`devices?name=${encodeURIComponent(HOSTILE.replace(",", "\\,"))}`, [deviceId(2)]],
    ["devices?name=nobody", []],
    ["devices?name=&type=SERVER,OTHER", [4, 5].map(deviceId)],
    ["devices/ports?name=eth1", [`${deviceId(1)}/1`]],
    ["devices/ports?name=eth1&sort=-name", [`${deviceId(1)}/1`]],
    ["devices?mfr=Maker\\, Inc.", [deviceId(1)]],
    ["devices?mfr=Maker%5C%2C+Inc.", [deviceId(1)]],
    ["devices?q=", null],
  ])("%s", async (path, expected) => {
    if (expected === null) expect((await h.fetch(path)).status).toBe(400);
    else expect(await ids(path)).toEqual(expected.toSorted());
  });

  // What clients that were generated from the OpenAPI document, and programs in Python, send.
  test.each([
    ["devices?type=Server&type=OTHER", "devices?type=SERVER,OTHER", 2],
    ["devices?available=True&type=Switch", "devices?available=true&type=SWITCH", 2],
    ["devices?mfr=Maker\\, Inc.&mfr=nobody", "devices?mfr=nobody,Maker\\, Inc.", 1],
    ["devices/ports?type=COPPER&isEnabled=TRUE", "devices/ports?type=copper&isEnabled=true", 1],
    [
      `links?device=${deviceId(2)}&device=${deviceId(5)}&direction=EGRESS`,
      `links?device=${deviceId(2)},${deviceId(5)}&direction=egress`,
      2,
    ],
    ["hosts?vlan=10&vlan=none", "hosts?vlan=10,None", 3],
  ])("%s is %s", async (path, same, count) => {
    const found = await ids(path);
    expect(found).toEqual(await ids(same));
    expect(found).toHaveLength(count);
  });

  test("around limits the counts and the formats of the topology too", async () => {
    expect(await h.json(`topology?around=${deviceId(5)}`)).toMatchObject({
      devices: 2,
      links: 1,
      clusters: 1,
      hosts: 1,
    });
    const dot = await (await h.fetch(`topology?around=${deviceId(5)}&format=dot`)).text();
    expect(dot).toContain(deviceId(4));
    expect(dot).not.toContain(deviceId(1));
  });

  test("the device filter of links matches both ends", async () => {
    const { links } = await h.json<{ links: Link[] }>(`links?device=${deviceId(2)}`);
    expect(links).toHaveLength(4);
    const ingress = await ids(`links?device=${deviceId(2)}&direction=ingress`);
    const egress = await ids(`links?device=${deviceId(2)}&direction=egress`);
    expect([...ingress, ...egress].sort()).toEqual(links.map(({ id }) => id));
  });
});

/** A bad query, and what the detail of its problem must contain. */
const BAD_QUERIES: [query: string, ...details: string[]][] = [
  ["devices?typ=SWITCH", '"typ"', 'did you mean "type"', "available"],
  ["devices?avialable=true", 'did you mean "available"'],
  ["devices?ip=10.0.0.1", '"ip" does not exist here', "serial"],
  ["links?mac=x", '"mac"', "bidirectional"],
  ["topology?type=SWITCH", '"type"', "around"],
  ["topology?formt=svg", 'did you mean "format"'],
  [`devices/${deviceId(1)}?fields=id`, '"fields"', "format, min-revision, at"],
  ["devices?type=SWICH", '"type"', "SWICH", "ROADM"],
  ["devices?type=", '"type"', "SWITCH"],
  ["devices?available=yes", '"available"', "yes", "true or false"],
  ["devices?limit=1&limit=2", '"limit"', "twice"],
  ["devices?limit=0", '"limit"', '"0"', "from 1 to 10000"],
  ["devices?limit=10001", "from 1 to 10000"],
  ["devices?limit=1e3", '"1e3"', "whole number"],
  ["devices?limit=-1", "whole number"],
  ["devices?fields=id,nmae", '"nmae"', "chassisId"],
  ["devices?fields=", '"fields"', "There are"],
  ["devices?sort=mfrr", '"mfrr"', 'did you mean "mfr"'],
  ["devices?sort=annotations", '"annotations"', "cannot be sorted"],
  ["devices?revision=x", '"revision"', "a number"],
  ["hosts?mac=zz", '"mac"', '"zz"', "00:00:00:00:00:01"],
  ["hosts?vlan=5000", '"vlan"', "1 to 4094"],
  ["hosts?ip=10.0.0", '"ip"', '"10.0.0"', "10.0.0.0/24"],
  ["hosts?ip=10.0.0.0/33", "10.0.0.0/33"],
  ["hosts?ip=10.0.0.1,nonsense", '"nonsense"'],
  ["hosts?port=1", '"port"', "device"],
  ["links?port=1", '"port"', "device"],
  ["links?direction=ingress", '"direction"', "device"],
  [`links?device=${deviceId(1)}&direction=up`, '"direction"', '"up"', "ingress, egress or all"],
  [`links?device=${deviceId(1)}&port=eth0`, '"port"', '"eth0"', "decimal number, local or controller"],
  ["devices?around=unknown", '"around"', '"unknown"', "no device and no host"],
  ["devices?around=", '"around"', "empty"],
  ["devices?hops=2", '"hops"', "around"],
  [`devices?around=${deviceId(1)}&hops=65`, '"hops"', "0 to 64"],
  ["devices?q=", '"q"', "empty"],
  ["devices?q=%ff", '"q"', "percent-encoded"],
  ["devices?%ff=1", "percent-encoded"],
  ["devices?cursor=abc", "cursor", "`next`"],
  ["devices?cursor=", "cursor", "first page"],
  ["devices?format=xml", '"format"', '"xml"', "json, ndjson, csv"],
  ["devices?format=svg", '"svg"', "json, ndjson, csv"],
  ["topology?format=cvs", '"cvs"', "graphml"],
  [`devices/${deviceId(1)}?format=csv`, '"csv"', "json"],
  ["devices?format=prometheus&fields=id", '"fields"', "prometheus"],
  ["devices?at=yesterday", '"at"', '"yesterday"', "2026-11-15T03:00:00Z"],
  ["devices?at=2026-11-15T01:00:00+01:00", '"at"', "%2B"],
  ["devices?at=2026-11-15", '"at"', "a revision or a time"],
  ["devices?at=99999", "at", "newest"],
  ["devices?since=x", '"since"', "Gazetteer-Revision"],
  ["devices?since=99999", "since", "newest"],
  ["devices?since=1&at=1", '"at"', "since"],
  ["devices?since=1&limit=5", '"limit"', "since"],
  ["devices?since=1&fields=id", '"fields"', "since"],
  ["devices?since=1&format=csv", '"format"', "json, events"],
  ["devices?fold=true", '"fold"', "since"],
  ["devices?since=1&fold=yes", '"fold"', "true or false"],
  ["devices?diff=1", '"diff"', "A..B"],
  ["devices?diff=..1", '"diff"', "A..B"],
  ["devices?diff=1..1&since=1", '"since"', "diff"],
  ["devices?diff=1..99999", "diff", "newest"],
  ["devices?diff=1..x", '"diff"', '"x"'],
  ["topology?timeline=0", '"timeline"', "1 to 1000"],
  ["topology?from=2026-11-15T01:00:00Z", '"from"', "timeline"],
  ["topology?timeline=2&from=monday", '"from"', '"monday"', "a time"],
  ["topology?timeline=2&from=2027-01-01T00:00:00Z", '"from"', "before"],
  ["topology?timeline=2&to=2020-01-01T00:00:00Z", '"to"', "before"],
  ["topology?timeline=2&at=1", '"at"', "timeline"],
  [`topology?timeline=2&around=${deviceId(1)}`, '"around"', "timeline"],
  ["devices?format=events&limit=2", '"limit"', "stream"],
  ["devices?format=events&sort=id", '"sort"', "stream"],
  ["devices?format=events&at=1", '"at"', "stream"],
  ["devices?format=events&fields=id", '"fields"', "stream"],
  ["devices?format=events&since=1&fold=true", '"fold"', "stream"],
  [`devices?${Array.from({ length: 101 }, (_, i) => `a${i}=`).join("&")}`, "101", "100"],
  [`devices?id=${"x,".repeat(1000)}`, '"id"', "1000 values"],
];

describe("a bad query is a 400 that says what is wrong and what is allowed", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await openHarness();
    await h.replace(SAMPLE);
  });
  afterAll(() => h.stop());

  test.each(BAD_QUERIES)("%s", async (path, ...details) => {
    const response = await h.fetch(path);
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const body = await response.json();
    for (const text of details) expect(body.detail).toContain(text);
    for (const key of ["devices", "ports", "links", "hosts"]) expect(body).not.toHaveProperty(key);
    // If-None-Match does not turn the 400 into a 304.
    const conditional = await h.fetch(path, { headers: { "if-none-match": "*" } });
    expect(conditional.status).toBe(400);
  });

  test("an unknown parameter is a 400 on every path", async () => {
    for (const path of [
      "devices",
      "devices/ports",
      "links",
      "hosts",
      "topology",
      "topology/clusters",
      "hosts/00:00:00:00:00:01",
    ]) {
      const response = await h.fetch(`${API}/${path}?nonsense=1`);
      expect(response.status).toBe(400);
      expect((await response.json()).detail).toContain('"nonsense" does not exist here');
    }
  });
});
