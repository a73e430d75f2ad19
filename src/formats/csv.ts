/**
 * CSV as RFC 4180 has it: a header row, CRLF, quotes doubled, UTF-8 without a byte order mark.
 *
 * Columns and their order are fixed for each kind, whatever the data, so that two exports can be compared and a
 * script can count on a column. `fields` leaves columns out; it never reorders them.
 *
 * A cell that a spreadsheet would run as a formula gets an apostrophe in front. Control characters other than tab
 * and line ends become U+FFFD: NUL ends the file for some readers, and none can show the others.
 */
import type { Annotations, Entities, Host } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";
import { inChunks } from "./chunks.ts";

interface Column<E> {
  readonly name: string;
  /** The top-level field it is cut from: what `fields` names. */
  readonly field: keyof E & string;
  readonly value: (entity: Partial<E>) => string;
}

type ScalarField<E> = {
  [F in keyof E & string]: E[F] extends string | number | boolean ? F : never;
}[keyof E & string];

const scalars = <E>(...fields: ScalarField<E>[]): Column<E>[] =>
  fields.map((field) => ({ name: field, field, value: (entity) => String(entity[field] ?? "") }));

interface Annotated {
  annotations?: Annotations;
}

/** Some annotations as columns of their own, then all of them as one JSON object. */
const annotations = (...keys: string[]): Column<Annotated>[] => [
  ...keys.map(
    (key): Column<Annotated> => ({
      name: `annotations.${key}`,
      field: "annotations",
      value: (entity) => entity.annotations?.[key] ?? "",
    }),
  ),
  {
    name: "annotations",
    field: "annotations",
    value: (entity) => (entity.annotations ? printableJson(entity.annotations) : ""),
  },
];

/** JSON leaves some control characters as they are; escaped, they survive the cell. */
const printableJson = (value: Annotations): string =>
  JSON.stringify(value).replace(/[\x7f-\x9f]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

interface Tracked {
  firstSeen: string;
  lastChanged: string;
  sources: string[];
  revision: number;
}
const TRACKING: readonly Column<Tracked>[] = [
  ...scalars<Tracked>("firstSeen", "lastChanged"),
  { name: "sources", field: "sources", value: (entity) => entity.sources?.join(" ") ?? "" },
  ...scalars<Tracked>("revision"),
];

const at = (location: Host["location"]): string => portId(location.elementId, location.port);

const COLUMNS: { readonly [K in Kind]: readonly Column<Entities[K]>[] } = {
  devices: [
    ...scalars<Entities["devices"]>(
      "id",
      "type",
      "available",
      "role",
      "mfr",
      "hw",
      "sw",
      "serial",
      "driver",
      "chassisId",
      "lastUpdate",
      "humanReadableLastUpdate",
    ),
    ...annotations("name", "managementAddress", "channelId", "protocol"),
    ...TRACKING,
  ],
  ports: [
    ...scalars<Entities["ports"]>("element", "port", "isEnabled", "type", "portSpeed"),
    ...annotations("portName"),
    ...TRACKING,
  ],
  links: [
    { name: "src.device", field: "src", value: (link) => link.src?.device ?? "" },
    { name: "src.port", field: "src", value: (link) => link.src?.port ?? "" },
    { name: "dst.device", field: "dst", value: (link) => link.dst?.device ?? "" },
    { name: "dst.port", field: "dst", value: (link) => link.dst?.port ?? "" },
    ...scalars<Entities["links"]>("type", "state"),
    ...annotations(),
    ...scalars<Entities["links"]>("id", "bidirectional", "verified"),
    ...TRACKING,
  ],
  hosts: [
    ...scalars<Host>("id", "mac", "vlan", "innerVlan", "outerTpid", "configured", "suspended"),
    { name: "ipAddresses", field: "ipAddresses", value: (host) => host.ipAddresses?.join(" ") ?? "" },
    { name: "locations", field: "locations", value: (host) => host.locations?.map(at).join(" ") ?? "" },
    { name: "location.elementId", field: "location", value: (host) => host.location?.elementId ?? "" },
    { name: "location.port", field: "location", value: (host) => host.location?.port ?? "" },
    ...annotations(),
    ...TRACKING,
  ],
};

/** The header row of a kind, all of it or that of the `fields` alone. */
export function csvColumns(kind: Kind, fields?: readonly string[]): string[] {
  return chosen(kind, fields).map((column) => column.name);
}

/** `fields` are top-level field names; one that is not a field of the kind has no column. */
export function renderCsv<K extends Kind>(
  kind: K,
  entities: Iterable<Partial<Entities[K]>>,
  fields?: readonly string[],
): Iterable<string> {
  return inChunks(rows(chosen(kind, fields), entities));
}

function chosen<K extends Kind>(kind: K, fields?: readonly string[]): readonly Column<Entities[K]>[] {
  const columns: readonly Column<Entities[K]>[] = COLUMNS[kind];
  return fields === undefined ? columns : columns.filter((column) => fields.includes(column.field));
}

function* rows<E>(columns: readonly Column<E>[], entities: Iterable<Partial<E>>): Generator<string> {
  yield `${columns.map((column) => column.name).join(",")}\r\n`;
  for (const entity of entities) {
    let row = "";
    for (const [i, column] of columns.entries()) row += (i === 0 ? "" : ",") + cell(column.value(entity));
    // A lone empty cell would be an empty line, which readers skip: the row would be lost.
    yield row === "" ? '""\r\n' : `${row}\r\n`;
  }
}

const NEEDS_CARE = /^[\s=+\-@＝＋－＠]|\s$|["\r\n,]|\p{Cc}|\p{Cs}/u;
/** Also behind blanks, which spreadsheets skip; and the full-width forms, which some of them read as ASCII. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;
const UNPRINTABLE = /[^\P{Cc}\t\r\n]|\p{Cs}/gu;

function cell(value: string): string {
  if (!NEEDS_CARE.test(value)) return value;
  const printable = value.replace(UNPRINTABLE, "\uFFFD");
  const defused = FORMULA.test(printable) ? `'${printable}` : printable;
  return /[",\r\n]|^\s|\s$/.test(defused) ? `"${defused.replaceAll('"', '""')}"` : defused;
}
