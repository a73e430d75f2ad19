/** `explain=true` on one entity: the claims of two sources and why each field has its value, now and in the past. */
import { expect, test } from "bun:test";
import type { Device } from "../../src/model/entity.ts";
import { type Explanation, NOT_SHOWN, WHY } from "../../src/model/explanation.ts";
import { type Harness, openHarness } from "./harness.ts";

const TYPE = "application/vnd.gazetteer.explanation+json";
const A = "of:0000000000000001";
const B = "of:0000000000000002";
const LINK = { src: { device: A, port: "1" }, dst: { device: B, port: "2" } };
const LINK_ID = `${A}/1-${B}/2`;
const HOST = { mac: "00:00:00:00:00:0A", vlan: "None", locations: [{ elementId: A, port: "3" }] };

async function openNetwork(): Promise<Harness> {
  const api = await openHarness({ aliases: ["onos"] });
  await api.replace(
    {
      devices: [{ id: A, type: "ROUTER", hw: "one" }, { id: B }],
      ports: [{ element: A, port: "1", portSpeed: 10 }],
      links: [LINK],
      hosts: [{ ...HOST, ipAddresses: ["10.0.0.1"] }],
    },
    "first",
  );
  await api.replace(
    {
      devices: [{ id: A, hw: "two", sw: "2.0" }],
      ports: [{ element: A, port: "1", portSpeed: 100 }],
      links: [{ ...LINK, state: "INACTIVE" }],
      hosts: [{ ...HOST, ipAddresses: ["10.0.0.2"] }],
    },
    "second",
  );
  return api;
}

const explain = (api: Harness, path: string) => api.json<Explanation>(`${path}explain=true`);

test("each claim, and for each field the source and the reason", async () => {
  await using api = await openNetwork();
  const response = await api.fetch(`devices/${A}?explain=true`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, TYPE]);
  const { claims, fields, ...rest }: Explanation = await response.json();
  const device = await api.json<Device>(`devices/${A}`);
  expect(rest).toEqual({ kind: "devices", id: A, revision: device.revision });
  expect(claims).toEqual([
    { source: "first", role: "observed", status: "live", id: A, claim: { id: A, type: "ROUTER", hw: "one" } },
    { source: "second", role: "observed", status: "live", id: A, claim: { id: A, hw: "two", sw: "2.0" } },
  ]);
  expect(fields.type).toEqual({ value: "ROUTER", source: "first", why: WHY.only });
  expect(fields.hw).toEqual({ value: "one", source: "first", why: WHY.first });
  expect(fields.sw).toEqual({ value: "2.0", source: "second", why: WHY.only });
  expect(fields.serial).toEqual({ value: "unknown", source: null, why: WHY.defaultValue });
  const { annotations, ...scalars } = device;
  const names = [...Object.keys(scalars), ...Object.keys(annotations).map((key) => `annotations.${key}`)];
  expect(Object.keys(fields).toSorted()).toEqual(names.toSorted());
  for (const [name, value] of Object.entries(scalars)) expect(fields[name]?.value).toEqual(value);
});

test("links, ports and hosts are explained too", async () => {
  await using api = await openNetwork();
  const link = await explain(api, `links/${encodeURIComponent(LINK_ID)}?`);
  expect([link.kind, link.id, link.fields.state]).toEqual([
    "links",
    LINK_ID,
    { value: "INACTIVE", source: "second", why: WHY.only },
  ]);
  expect(await api.json(`links/${LINK_ID}`)).toMatchObject({ id: LINK_ID, state: "INACTIVE" });
  const port = await explain(api, `devices/${A}/ports/1?`);
  expect([port.kind, port.id, port.fields.portSpeed]).toEqual([
    "ports",
    `${A}/1`,
    { value: 10, source: "first", why: WHY.first },
  ]);
  expect(await api.json(`devices/${A}/ports/1`)).toMatchObject({ element: A, port: "1", portSpeed: 10 });
  const host = await explain(api, "hosts/00:00:00:00:00:0A/None?");
  expect([host.kind, host.fields.ipAddresses]).toEqual([
    "hosts",
    { value: ["10.0.0.1", "10.0.0.2"], source: null, why: WHY.union },
  ]);
});

test("the only claim of an entity is recovered from its value", async () => {
  await using api = await openHarness();
  await api.replace({ devices: [{ id: A, type: "ROUTER", available: true, role: "NONE" }] });
  expect(api.view.size("claims")).toBe(0);
  const { claims } = await explain(api, `devices/${A}?`);
  expect(claims.map(({ source, claim }) => [source, claim])).toEqual([
    ["first", { id: A, type: "ROUTER", available: true, role: "NONE" }],
  ]);
});

test("the past is explained by the claims of its time", async () => {
  await using api = await openNetwork();
  const before = await (await api.fetch(`devices/${A}?explain=true`)).text();
  const at = api.view.revision;
  await api.replace({ devices: [{ id: B }] }, "first");
  const now = await explain(api, `devices/${A}?`);
  expect(now.claims.map(({ source }) => source)).toEqual(["second"]);
  expect(now.fields.hw).toEqual({ value: "two", source: "second", why: WHY.only });
  const past = await api.fetch(`devices/${A}?explain=true&at=${at}`);
  expect([past.headers.get("gazetteer-revision"), await past.text()]).toEqual([String(at), before]);
});

test("the tag changes when a claim changes although the entity does not", async () => {
  await using api = await openNetwork();
  const read = (ifNoneMatch = "", query = "?explain=true") =>
    api.fetch(`devices/${A}${query}`, { headers: { "if-none-match": ifNoneMatch } });
  const tag = (await read()).headers.get("etag") ?? "";
  const plainTag = (await read("", "")).headers.get("etag") ?? "";
  expect(tag).not.toBe(plainTag);
  // Three times, so that the response cache has it.
  for (let i = 0; i < 3; i++) expect((await read(tag)).status).toBe(304);
  await api.apply([{ op: "set", kind: "devices", claim: { id: A, hw: "three", sw: "2.0" } }], "second");
  expect((await read(plainTag, "")).status).toBe(304);
  const changed = await read(tag);
  expect(changed.status).toBe(200);
  const { claims }: Explanation = await changed.json();
  expect(claims[1]?.claim.hw).toBe("three");
  // A claim about another entity changes nothing here.
  const newTag = changed.headers.get("etag") ?? "";
  await api.apply([{ op: "set", kind: "devices", claim: { id: B, hw: "x" } }], "second");
  expect((await read(newTag)).status).toBe(304);
});

test("what is claimed and held back is explained; what nothing claims is a 404", async () => {
  await using api = await openHarness();
  await api.replace({ devices: [{ id: A }], links: [LINK], ports: [{ element: B, port: "2" }] });
  expect((await api.fetch(`links/${LINK_ID}`)).status).toBe(404);
  const link = await explain(api, `links/${LINK_ID}?`);
  expect([link.notShown, link.fields, link.revision]).toEqual([NOT_SHOWN.heldBack, {}, undefined]);
  expect(link.claims.map(({ source }) => source)).toEqual(["first"]);
  await api.apply([{ op: "set", kind: "devices", claim: { id: B } }]);
  expect((await explain(api, `links/${LINK_ID}?`)).notShown).toBeUndefined();
  const none = await api.fetch("devices/unknown?explain=true");
  expect([none.status, (await none.json()).detail]).toEqual([404, 'There is no device "unknown".']);
});

test("the media type in Accept needs the parameter, and the parameter admits JSON", async () => {
  await using api = await openNetwork();
  const accept = (path: string, type: string) => api.fetch(path, { headers: { accept: type } });
  const missing = await accept(`devices/${A}`, TYPE);
  expect([missing.status, (await missing.json()).detail]).toEqual([
    400,
    expect.stringContaining("explain=true"),
  ]);
  for (const type of [TYPE, "application/json", "*/*"])
    expect((await accept(`devices/${A}?explain=true`, type)).headers.get("content-type")).toBe(TYPE);
  expect((await accept(`devices/${A}?explain=true`, "text/csv")).status).toBe(406);
  expect((await api.fetch(`devices/${A}/ports?explain=true`)).status).toBe(400);
  expect((await api.fetch("devices?explain=true")).status).toBe(400);
  expect((await api.json(`devices/${A}?explain=false`)).id).toBe(A);
});

test("the alias onos has no explanations", async () => {
  await using api = await openNetwork();
  const response = await api.fetch(`/onos/v1/devices/${A}?explain=true`);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(Object.keys(await response.json())).not.toContain("claims");
});
