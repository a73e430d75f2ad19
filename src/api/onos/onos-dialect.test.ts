/** The conversion of entities as text is the same as parsing them, whatever the annotations are called. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../../test/support/property.ts";
import { withoutPauses } from "../../lib/steps.ts";
import { KINDS, type Kind } from "../../model/ids.ts";
import { EncodedPage } from "../../view/encoded-page.ts";
import type { Dialect } from "./dialect.ts";
import { createOnosDialect } from "./onos-dialect.ts";

const ONOS = createOnosDialect({ hostLocation: false });
const OLD_ONOS = createOnosDialect({ hostLocation: true });

const text = fc.constantFrom(
  "x", "", 'a"b\\', ',"firstSeen":"', ',"id":"x"', '"},"location":{', "LOCAL", "ünï ☃", "{}[]",
); // biome-ignore format: a list of texts
const annotations = fc.option(
  fc.dictionary(fc.constantFrom("id", "firstSeen", "location", "device", "port", "elementId", "name"), text),
  { nil: undefined },
);
const device = fc.constantFrom("of:00000000000000aa", "NETCONF:Switch-A", 'rest:a"b');
const port = fc.constantFrom("1", "4294967295", "local", "controller");
const tracking = {
  firstSeen: fc.constant("2026-11-15T00:00:00.000Z"),
  lastChanged: fc.constant("2026-11-15T00:00:01.000Z"),
  sources: fc.array(text),
  revision: fc.nat(),
};
const location = fc.record({ elementId: device, port });
const end = fc.record({ port, device });

const ENTITIES: Readonly<Record<Kind, fc.Arbitrary<Readonly<Record<string, unknown>>>>> = {
  devices: fc.record({
    id: device,
    type: text,
    available: fc.boolean(),
    mfr: text,
    annotations,
    ...tracking,
  }),
  ports: fc.record({ element: device, port, isEnabled: fc.boolean(), annotations, ...tracking }),
  links: fc.record({
    src: end,
    dst: end,
    type: text,
    state: text,
    annotations,
    id: text,
    bidirectional: fc.boolean(),
    verified: fc.boolean(),
    ...tracking,
  }),
  hosts: fc.record({
    id: fc.constant("00:00:00:00:00:AB/None"),
    mac: fc.constant("00:00:00:00:00:AB"),
    ipAddresses: fc.array(text),
    locations: fc.array(location, { minLength: 1 }),
    auxLocations: fc.option(fc.array(location, { minLength: 1 }), { nil: undefined }),
    location,
    annotations,
    ...tracking,
  }),
};

type Point = Readonly<Record<string, string>>;
const point = (at: unknown): Point =>
  Object.fromEntries(
    Object.entries(at as Point).map(([name, value]) => [
      name,
      name === "port" ? value.toUpperCase() : value.toLowerCase(),
    ]),
  );
const points = (all: unknown): Point[] => (all as Point[]).map(point);

/** The same conversion, field by field. */
function expected(
  { fields }: Dialect,
  kind: Kind,
  entity: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const converted: Record<string, unknown> = {};
  for (const field of fields(kind) ?? []) {
    const value = entity[field];
    if (value === undefined) continue;
    if (field === "src" || field === "dst" || field === "location") converted[field] = point(value);
    else if (field === "locations" || field === "auxLocations") converted[field] = points(value);
    else if (field === "element" || (field === "id" && kind === "devices"))
      converted[field] = String(value).toLowerCase();
    else if (field === "port") converted[field] = value === "controller" ? "CONTROLLER" : value;
    else converted[field] = value;
  }
  return converted;
}

test.each([...KINDS])("%s have only ONOS's fields in ONOS's spelling", (kind) => {
  fc.assert(
    fc.property(ENTITIES[kind], fc.constantFrom(ONOS, OLD_ONOS), (entity, dialect) => {
      const json = dialect.entity(kind, JSON.stringify(entity));
      const wanted = expected(dialect, kind, entity);
      expect(JSON.parse(json)).toEqual(wanted);
      expect(Object.keys(JSON.parse(json))).toEqual(Object.keys(wanted));
    }),
    { numRuns: runs(1000) },
  );
});

test("hosts have a location only where that is configured", () => {
  expect(ONOS.fields("hosts")).not.toContain("location");
  expect(OLD_ONOS.fields("hosts")).toContain("location");
});

test("a page is converted once", () => {
  const value = (id: string) => `{"id":"${id}","mfr":"ünï","annotations":{},"firstSeen":"x","revision":1}`;
  const [page] = EncodedPage.empty.withChanges(new Map(["a", "b"].map((id) => [id, value(id)])));
  if (!page) throw new Error("no page");
  const convert = () => [...withoutPauses(ONOS.pages("devices", [page]))];
  const [converted] = convert();
  expect(converted?.bytes.toString()).toBe(
    '{"id":"a","mfr":"ünï","annotations":{}},{"id":"b","mfr":"ünï","annotations":{}}',
  );
  expect(converted?.bytesWithComma.toString()).toEndWith("},");
  expect(converted?.get("b")).toBe('{"id":"b","mfr":"ünï","annotations":{}}');
  expect(convert()[0]).toBe(converted);
});
