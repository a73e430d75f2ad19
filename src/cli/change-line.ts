/**
 * One change as one line of text: what changed, and the fields worth showing. Values come from the network, so they
 * are escaped and truncated like cells of a table.
 */
import { idOf } from "../client/types.ts";
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { createStyler, formatCell, type TextStyle } from "./table.ts";

export interface EntityChange {
  readonly event: "added" | "updated" | "removed";
  readonly resource: Kind;
  readonly value: Entities[Kind];
  /** Names of the fields that differ; only for `updated`. */
  readonly changed?: readonly string[];
  /** The value before, where it is known. */
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

/** Fields that change together with another field, or that only programs need. */
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

/** Without a line end. */
export function renderChangeLine(change: EntityChange, colour: boolean): string {
  const { event, resource, value, before } = change;
  const style = createStyler(colour);
  const head = `${SIGNS[event]} ${SINGULAR[resource].padEnd(6)} ${formatCell(idOf(value))}`;
  const fields = fieldsShown(change);
  const details = fields.map((field) => `${field}: ${formatDifference(field, value, before)}`);
  if (event === "added" && value.drift) details.push(`drift: ${formatField("drift", value)}`);
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

function formatDifference(field: string, value: Entities[Kind], before: Entities[Kind] | undefined): string {
  const text = formatField(field, value);
  return before === undefined ? text : `${formatField(field, before)} → ${text}`;
}

function formatField(field: string, value: Entities[Kind]): string {
  if (field === "locations" && "locations" in value) {
    return formatCell(value.locations.map(({ elementId, port }) => `${elementId}/${port}`));
  }
  if (field === "drift") return formatDrift(value);
  return formatCell(Object.entries(value).find(([name]) => name === field)?.[1]);
}

/** `differs (type, hw)`; a dash where it is as intended. */
function formatDrift({ drift }: Entities[Kind]): string {
  const fields = Object.keys(drift?.fields ?? {});
  return formatCell(drift && fields.length > 0 ? `${drift.state} (${fields.join(", ")})` : drift?.state);
}
