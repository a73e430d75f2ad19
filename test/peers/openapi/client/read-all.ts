/**
 * A program on a generated client: it reads the four paths, and the documents that a parameter selects. Every value has
 * the type that the OpenAPI document gives it. `tsc --strict` compiles it, with no guard, no cast and no `any`.
 *
 * The test compiles it in another folder, where `schema.d.ts` is generated from openapi.json.
 */
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type DeviceType = components["schemas"]["DeviceType"];
type Location = components["schemas"]["Location"];

/** The body of a response; a problem becomes an exception. */
function bodyOf<T>(result: { readonly data?: T; readonly error?: unknown }): T {
  if (result.data === undefined) throw new Error(JSON.stringify(result.error));
  return result.data;
}

export async function readAll(baseUrl: string, authorization: string) {
  const options = {
    baseUrl,
    headers: { authorization },
    querySerializer: { array: { style: "form", explode: false } },
  } as const;
  const json = createClient<paths, "application/json">(options);

  const { devices } = bodyOf(await json.GET("/controller/v1/devices"));
  const types: DeviceType[] = devices.map(({ type }) => type);
  const addresses: (string | undefined)[] = devices.map(({ annotations }) => annotations.managementAddress);
  const { links } = bodyOf(await json.GET("/controller/v1/links"));
  const ends: string[] = links.flatMap(({ src, dst }) => [src.device, dst.device]);
  const { hosts } = bodyOf(await json.GET("/controller/v1/hosts"));
  const locations: Location[] = hosts.flatMap((host) => host.locations);
  const topology = bodyOf(await json.GET("/controller/v1/topology"));
  const time: number = topology.time;

  const filter = { type: ["SWITCH", "ROUTER"], available: [true, false], limit: 2 } as const;
  const query = { ...filter, type: [...filter.type], available: [...filter.available] };
  const page = bodyOf(await json.GET("/controller/v1/devices", { params: { query } }));
  const [first, second] = page.devices;
  const path = { id: first?.id ?? "" };
  const { ports } = bodyOf(await json.GET("/controller/v1/devices/{id}/ports", { params: { path } }));

  const item = bodyOf(await json.GET("/controller/v1/devices/{id}", { params: { path } }));
  const between = { path: { src: first?.id ?? "", dst: second?.id ?? "" } };
  const found = bodyOf(await json.GET("/controller/v1/paths/{src}/{dst}", { params: between }));
  const linkIds: (string | undefined)[] = found.paths.flatMap((one) => one.links.map(({ id }) => id));

  const changes = createClient<paths, "application/vnd.gazetteer.changes+json">(options);
  const since = { params: { query: { since: 0, fold: true } } };
  const changed = bodyOf(await changes.GET("/controller/v1/devices", since));
  const revision: number = changed.revision;
  const differences = createClient<paths, "application/vnd.gazetteer.differences+json">(options);
  const diff = { params: { query: { diff: "0.." } } };
  const differing = bodyOf(await differences.GET("/controller/v1/topology", diff));
  const events: ("added" | "updated" | "removed")[] = differing.changes.map(({ event }) => event);
  const timelines = createClient<paths, "application/vnd.gazetteer.timeline+json">(options);
  const spans = { params: { query: { timeline: 3 } } };
  const timeline = bodyOf(await timelines.GET("/controller/v1/topology", spans));
  const counts: number[] = timeline.counts;

  return {
    devices: devices.length,
    types: types.length,
    addresses: addresses.length,
    links: links.length,
    ends: ends.length,
    hosts: hosts.length,
    locations: locations.length,
    topology,
    time,
    page: page.devices.length,
    isItem: item.id === first?.id,
    ports: ports.length,
    paths: found.paths.length,
    linkIds: linkIds.length,
    changes: changed.changes.length,
    revision,
    events: events.length,
    counts,
  };
}
