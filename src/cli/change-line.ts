/**
 * One change as one line for a person: what happened, to what, and what about it matters. What is said of a thing
 * comes from the network, so every word of it is made harmless and none is longer than a line bears.
 */
import { idOf } from "../client/types.ts";
import type { Entities } from "../model/entity.ts";
import type { Kind } from "../model/ids.ts";
import { type Colour, painter, shownCell } from "./table.ts";

export interface Happening {
  readonly event: "added" | "updated" | "removed";
  readonly resource: Kind;
  readonly value: Entities[Kind];
  /** Only of what was updated. */
  readonly changed?: readonly string[];
  readonly before?: Entities[Kind];
}

const SIGNS = { added: "+", updated: "~", removed: "-" } as const;
const COLOURS: Readonly<Record<Happening["event"], Colour>> = {
  added: "green",
  updated: "yellow",
  removed: "red",
};
const NAMES: Readonly<Record<Kind, string>> = {
  devices: "device",
  ports: "port",
  links: "link",
  hosts: "host",
};

/** What follows from another field that changed with it, or is there for programs. */
const SECONDARY = new Set(["lastUpdate", "humanReadableLastUpdate", "location", "lastChanged", "revision"]);
/** What is worth saying of a thing that appeared. */
const TELLING: Readonly<Record<Kind, readonly string[]>> = {
  devices: ["type", "available", "mfr", "hw"],
  ports: ["isEnabled", "portSpeed"],
  links: ["type", "state"],
  hosts: ["ipAddresses", "locations"],
};

/** Without a line end. */
export function changeLine({ event, resource, value, changed, before }: Happening, colour: boolean): string {
  const paint = painter(colour);
  const head = `${SIGNS[event]} ${NAMES[resource].padEnd(6)} ${shownCell(idOf(value))}`;
  const told = event === "added" ? TELLING[resource] : event === "updated" ? primary(changed ?? []) : [];
  const details = told.map((field) => `${field}: ${difference(field, value, before)}`);
  // Between two moments a thing can change and change back.
  if (event === "updated" && told.length === 0) details.push("as it was, but not all the time");
  return [paint(head, COLOURS[event]), ...details].join("  ");
}

function primary(changed: readonly string[]): readonly string[] {
  const first = changed.filter((field) => !SECONDARY.has(field));
  return first.length > 0 ? first : changed;
}

function difference(field: string, value: Entities[Kind], before: Entities[Kind] | undefined): string {
  const is = cell(field, value);
  return before === undefined ? is : `${cell(field, before)} → ${is}`;
}

function cell(field: string, value: Entities[Kind]): string {
  if (field === "locations" && "locations" in value) {
    return shownCell(value.locations.map(({ elementId, port }) => `${elementId}/${port}`));
  }
  return shownCell(Object.entries(value).find(([name]) => name === field)?.[1]);
}
