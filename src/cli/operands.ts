/**
 * What operands mean: a resource and a path below it, query parameters, a point in the history (a revision, a time, a time
 * ago, or `now`), and the names and addresses of hosts and devices.
 */

import type { Client } from "../client/client.ts";
import type { CollectionName, Query, RevisionOrTime, RevisionTime, WatchTarget } from "../client/types.ts";
import { formatsOf } from "../formats/formats.ts";
import { nearest } from "../lib/nearest.ts";
import { canonicalIp } from "../model/address.ts";
import { CommandFailure, usageFailure } from "./command.ts";

export const RESOURCES = ["devices", "links", "hosts", "topology"] as const satisfies readonly WatchTarget[];
export type ListedResource = (typeof RESOURCES)[number];

export function parseResource(name: string | undefined): ListedResource {
  const resource = RESOURCES.find((candidate) => candidate === name);
  if (resource) return resource;
  if (name === undefined) throw usageFailure(`wants one of ${RESOURCES.join(", ")}`);
  const near = nearest(name, RESOURCES);
  const hint = near === undefined ? `there are ${RESOURCES.join(", ")}` : `did you mean ${near}?`;
  throw usageFailure(`there is no ${JSON.stringify(name)}; ${hint}`);
}

/** Parses `NAME=VALUE` arguments as query parameters. */
export function parseQuery(parameters: readonly string[]): Query {
  const query = new Map<string, string>();
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (equals < 1) throw usageFailure(`${JSON.stringify(parameter)} is not NAME=VALUE`);
    const name = parameter.slice(0, equals);
    if (query.has(name)) throw usageFailure(`${name}= is given twice; several values are joined by commas`);
    query.set(name, parameter.slice(equals + 1));
  }
  return Object.fromEntries(query);
}

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
const DURATION = /^(\d{1,9}(?:\.\d{1,9})?)([smhdw])$/;
/** The largest time that a Date can have. */
const MAX_DATE_MS = 8.64e15;

/** Parses `90s`, `5m`, `2h`, `3d` and `1w`. Returns undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const [, amount, unit = ""] = DURATION.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNITS_MS[unit] ?? 0);
}

/** Returns a revision (number), or a time. Text that begins like a date is parsed by the service. */
export function parseTimeArgument(text: string, nowMs: number): number | string | Date {
  if (text === "now") return new Date(nowMs);
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const time = nowMs - (parseDurationMs(text) ?? Number.POSITIVE_INFINITY);
  if (Math.abs(time) <= MAX_DATE_MS) return new Date(time);
  if (/^\d{4}-\d\d-\d\d./.test(text)) return text;
  throw usageFailure(
    `${JSON.stringify(text)} is not a point in time; give a revision, a time such as 2026-11-15T03:00:00Z, a time ago (90s, 5m, 2h, 3d, 1w), or now`,
  );
}

/**
 * Parses a point in the history, and replaces a time ago that is before the history by the beginning of the history: `5m`
 * means "as far back as there is, at most five minutes". The history begins after the first load, because a network that is
 * read for the first time has not changed. A revision or an absolute time is not replaced; the service refuses it if it is
 * not kept. `note` is called with a line when the point is replaced.
 */
export async function withinHistory(
  client: Client,
  text: string,
  nowMs: number,
  note: (text: string) => Promise<void>,
): Promise<RevisionOrTime> {
  const value = parseTimeArgument(text, nowMs);
  if (!(value instanceof Date) || text === "now") return value;
  const { loaded } = await client.timeline(1);
  if (value.getTime() >= loaded.time) return value;
  await note(`the history begins at ${formatRevision(loaded)}, less than ${text} ago`);
  return loaded.revision;
}

export function formatRevision({ revision, time }: RevisionTime): string {
  return time > 0 ? `revision ${revision} (${new Date(time).toISOString()})` : `revision ${revision}`;
}

// An operand may be neither an id nor the name of a device, which the service resolves itself: then it is a host by its name or
// one of its IP addresses, or a device by its management address.

/** The maximum number of ids in the message about an ambiguous operand. */
const MAX_CANDIDATES = 10;

/** The id of the only host with this name or address; undefined if there is none. Several are a CommandFailure. */
export async function resolveHost(client: Client, text: string, { at }: Query): Promise<string | undefined> {
  const ip = canonicalIp(text.trim());
  // An unescaped comma would separate two names.
  const filter = ip === undefined ? { name: text.trim().replaceAll(",", "\\,") } : { ip };
  return onlyMatch(client, "hosts", { ...filter, at }, text);
}

/** The id of the only host with this name or address, or else of the only device with this management address. */
export async function resolveHostOrDevice(
  client: Client,
  text: string,
  query: Query,
): Promise<string | undefined> {
  const host = await resolveHost(client, text, query);
  const ip = canonicalIp(text.trim());
  if (host !== undefined || ip === undefined) return host;
  return onlyMatch(client, "devices", { "annotations.managementAddress": ip, at: query.at }, text);
}

async function onlyMatch(
  client: Client,
  kind: CollectionName,
  query: Query,
  text: string,
): Promise<string | undefined> {
  const { items } = await client.list(kind, { ...query, limit: MAX_CANDIDATES + 1 });
  const ids = items.map(({ id }) => id);
  if (ids.length < 2) return ids[0];
  const more = ids.length > MAX_CANDIDATES ? " and more" : "";
  throw new CommandFailure(
    `several ${kind} are called ${JSON.stringify(text)}: ${ids.slice(0, MAX_CANDIDATES).join(", ")}${more}; give an id`,
  );
}

// The operands of `gazetteer get` without `=` after the resource are the segments of a path: `devices ID`, `devices ID ports`,
// `topology clusters 0 links`.

export interface ReadTarget {
  readonly resource: ListedResource;
  /** The path below `/controller/v1/`, with encoded segments. */
  readonly path: string;
  readonly query: Query;
  /** The id when a single entity is read. */
  readonly id: string | undefined;
  /** The member of the body that holds the list; undefined when the body is not a list. */
  readonly listKey: string | undefined;
  /** The names of the formats in which the service can send it. */
  readonly formats: readonly string[];
}

/** The formats of a single entity and of the paths below it: only JSON. */
const ITEM_FORMATS: readonly string[] = ["json"];

export function parseReadTarget(operands: readonly string[]): ReadTarget {
  const [name, ...rest] = operands;
  const resource = parseResource(name);
  const firstParameter = rest.findIndex((operand) => operand.includes("="));
  const segments = firstParameter < 0 ? rest : rest.slice(0, firstParameter);
  const query = parseQuery(firstParameter < 0 ? [] : rest.slice(firstParameter));
  const [first, ...below] = segments;
  if (first === undefined) return listTarget(resource, resource, query);
  if (first === "") throw usageFailure("an id may not be empty");
  const path = [resource, ...segments].map(encodeURIComponent).join("/");
  if (path === "devices/ports") return { ...listTarget("devices", "ports", query), path };
  const id = resource !== "topology" && below.length === 0 ? first : undefined;
  return { resource, path, query, id, listKey: undefined, formats: ITEM_FORMATS };
}

function listTarget(resource: ListedResource, kind: ListedResource | "ports", query: Query): ReadTarget {
  const formats = formatsOf(kind)
    .filter((format) => !format.stream)
    .map((format) => format.name);
  const listKey = kind === "topology" ? undefined : kind;
  return { resource, path: resource, query, id: undefined, listKey, formats };
}
