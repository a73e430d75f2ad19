/**
 * One change as one line of text: what changed, and the fields worth showing. Values come from the network, so they
 * are escaped and truncated like cells of a table.
 */
import { idOf } from "../client/types.ts";
import type { Entities, HostLocation, Link } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";
import type { ConnectPointJson, NetworkNames } from "./network-names.ts";
import { createStyler, formatCell, type TextStyle } from "./table.ts";

export interface EntityChange {
  readonly event: "added" | "updated" | "removed";
  readonly resource: Kind;
  readonly value: Entities[Kind];
  /** Names of the fields that differ; only for `updated`. */
  readonly changed?: readonly string[];
  /** The previous value, if it is known. */
  readonly before?: Entities[Kind];
}

const SIGNS = { added: "+", updated: "~", removed: "-" } as const;
const STYLES: Readonly<Record<EntityChange["event"], TextStyle>> = {
  added: "green",
  updated: "yellow",
  removed: "red",
};
const SINGULAR: Readonly<Record<Kind, string>> = {
  devices: "device",
  ports: "port",
  links: "link",
  hosts: "host",
};

/** Fields that change whenever another field changes, or that only programs need. */
const DERIVED_FIELDS = new Set([
  "lastUpdate",
  "humanReadableLastUpdate",
  "location",
  "lastChanged",
  "revision",
]);
const FIELDS_SHOWN_WHEN_ADDED: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["type", "available", "mfr", "hw"],
  ports: ["isEnabled", "portSpeed"],
  links: ["type", "state"],
  hosts: ["ipAddresses", "locations"],
};

/** The names of devices and ports that a line refers to by id. */
type LineNames = Pick<NetworkNames, "textOf">;

/** The devices and ports whose names the line of a change shows. */
export function pointsOfChange({ value, before }: EntityChange): ConnectPointJson[] {
  if ("src" in value) return [value.src, value.dst];
  if ("element" in value) return [{ device: value.element, port: value.port }];
  const hosts = [value, before].filter((host) => host !== undefined && "locations" in host);
  return hosts.flatMap(({ locations }) => locations.map(pointOf));
}

/** Renders one line, without a line end. */
export function renderChangeLine(change: EntityChange, colour: boolean, names: LineNames): string {
  const { event, resource, value, before } = change;
  const style = createStyler(colour);
  const id = idOf(value);
  const name = nameShown(value, names);
  const named = name === undefined || name === id ? "" : ` (${formatCell(name)})`;
  const head = `${SIGNS[event]} ${SINGULAR[resource].padEnd(6)} ${formatCell(id)}${named}`;
  const fields = fieldsShown(change);
  const details = fields.map((field) => `${field}: ${formatDifference(field, value, before, names)}`);
  if (event === "added" && value.drift) details.push(`drift: ${formatField("drift", value, names)}`);
  // A diff reports an entity that changed and changed back between its two revisions, with no field that differs.
  if (event === "updated" && fields.length === 0) details.push("changed and changed back");
  return [style(head, STYLES[event]), ...details].join("  ");
}

function fieldsShown({ event, resource, changed = [] }: EntityChange): readonly string[] {
  if (event === "added") return FIELDS_SHOWN_WHEN_ADDED[resource];
  if (event === "removed") return [];
  const primary = changed.filter((field) => !DERIVED_FIELDS.has(field));
  return primary.length > 0 ? primary : changed;
}

/** The name of the entity for people; undefined if it has none. */
function nameShown(value: Entities[Kind], { textOf }: LineNames): string | undefined {
  if ("element" in value) return textOf({ device: value.element, port: value.port });
  if (!("src" in value)) return value.annotations?.name?.trim() || undefined;
  const [src, dst] = [textOf(value.src), textOf(value.dst)];
  const hasNames = src !== idText(value.src) || dst !== idText(value.dst);
  return hasNames ? `${src} > ${dst}` : undefined;
}

const idText = ({ device, port }: Link["src"]): string => portId(device, port);
const pointOf = ({ elementId, port }: HostLocation): ConnectPointJson => ({ device: elementId, port });

function formatDifference(
  field: string,
  value: Entities[Kind],
  before: Entities[Kind] | undefined,
  names: LineNames,
): string {
  const text = formatField(field, value, names);
  return before === undefined ? text : `${formatField(field, before, names)} → ${text}`;
}

function formatField(field: string, value: Entities[Kind], { textOf }: LineNames): string {
  if (field === "locations" && "locations" in value) {
    return formatCell(value.locations.map((location) => textOf(pointOf(location))));
  }
  if (field === "drift") return formatDrift(value);
  return formatCell(Object.entries(value).find(([name]) => name === field)?.[1]);
}

/** The drift of the entity, such as `differs (type, hw)`; a dash if the entity is as intended. */
function formatDrift({ drift }: Entities[Kind]): string {
  const fields = Object.keys(drift?.fields ?? {});
  return formatCell(drift && fields.length > 0 ? `${drift.state} (${fields.join(", ")})` : drift?.state);
}
