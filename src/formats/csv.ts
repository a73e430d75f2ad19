/**
 * CSV as in RFC 4180: a header row, CRLF, quotes doubled, UTF-8 without a byte order mark.
 *
 * The columns and their order are fixed for each kind and do not depend on the data, so that exports can be compared
 * and scripts can rely on a column. `fields` leaves columns out; it never reorders them.
 *
 * A cell that a spreadsheet would run as a formula gets an apostrophe in front. Control characters other than tab and
 * line ends become U+FFFD: some programs treat NUL as the end of the file, and no program can show the others.
 */
import { mapPaced, type Paced } from "../lib/steps.ts";
import type { Annotations, Drift, Entities, Host } from "../model/entity.ts";
import { type Kind, portId } from "../model/ids.ts";
import type { PacedText } from "./chunks.ts";

interface Column<E> {
  readonly name: string;
  /** The top-level field that selects the column when it is in `fields`. */
  readonly field: keyof E & string;
  readonly value: (entity: Partial<E>) => string;
}

type ScalarField<E> = {
  [F in keyof E & string]: E[F] extends string | number | boolean ? F : never;
}[keyof E & string];

const scalarColumns = <E>(...fields: ScalarField<E>[]): Column<E>[] =>
  fields.map((field) => ({ name: field, field, value: (entity) => String(entity[field] ?? "") }));

interface WithAnnotations {
  annotations?: Annotations;
}

/** A column for each of `keys`, then one with all annotations as a JSON object. */
const annotationColumns = (...keys: string[]): Column<WithAnnotations>[] => [
  ...keys.map(
    (key): Column<WithAnnotations> => ({
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

/** Escapes DEL and C1 control characters, which JSON leaves as they are and the cell would replace by U+FFFD. */
const printableJson = (value: Annotations): string =>
  JSON.stringify(value).replace(/[\x7f-\x9f]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);

interface Tracking {
  firstSeen: string;
  lastChanged: string;
  sources: string[];
  revision: number;
}
const TRACKING_COLUMNS: readonly Column<Tracking>[] = [
  ...scalarColumns<Tracking>("firstSeen", "lastChanged"),
  { name: "sources", field: "sources", value: (entity) => entity.sources?.join(" ") ?? "" },
  ...scalarColumns<Tracking>("revision"),
];

/** These columns are last, so that adding them did not move the other columns. */
const DRIFT_COLUMNS: readonly Column<{ drift?: Drift }>[] = [
  { name: "drift.state", field: "drift", value: ({ drift }) => drift?.state ?? "" },
  { name: "drift.since", field: "drift", value: ({ drift }) => drift?.since ?? "" },
];

const formatLocation = (location: Host["location"]): string => portId(location.elementId, location.port);

const COLUMNS: { readonly [K in Kind]: readonly Column<Entities[K]>[] } = {
  devices: [
    ...scalarColumns<Entities["devices"]>(
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
    ...annotationColumns("name", "managementAddress", "channelId", "protocol"),
    ...TRACKING_COLUMNS,
    { name: "aliases", field: "aliases", value: (device) => device.aliases?.join(" ") ?? "" },
    ...DRIFT_COLUMNS,
  ],
  ports: [
    ...scalarColumns<Entities["ports"]>("element", "port", "isEnabled", "type", "portSpeed"),
    ...annotationColumns("portName"),
    ...TRACKING_COLUMNS,
    ...DRIFT_COLUMNS,
  ],
  links: [
    { name: "src.device", field: "src", value: (link) => link.src?.device ?? "" },
    { name: "src.port", field: "src", value: (link) => link.src?.port ?? "" },
    { name: "dst.device", field: "dst", value: (link) => link.dst?.device ?? "" },
    { name: "dst.port", field: "dst", value: (link) => link.dst?.port ?? "" },
    ...scalarColumns<Entities["links"]>("type", "state"),
    ...annotationColumns(),
    ...scalarColumns<Entities["links"]>("id", "bidirectional", "verified"),
    ...TRACKING_COLUMNS,
    ...DRIFT_COLUMNS,
  ],
  hosts: [
    ...scalarColumns<Host>("id", "mac", "vlan", "innerVlan", "outerTpid", "configured", "suspended"),
    { name: "ipAddresses", field: "ipAddresses", value: (host) => host.ipAddresses?.join(" ") ?? "" },
    {
      name: "locations",
      field: "locations",
      value: (host) => host.locations?.map(formatLocation).join(" ") ?? "",
    },
    {
      name: "auxLocations",
      field: "auxLocations",
      value: (host) => host.auxLocations?.map(formatLocation).join(" ") ?? "",
    },
    { name: "location.elementId", field: "location", value: (host) => host.location?.elementId ?? "" },
    { name: "location.port", field: "location", value: (host) => host.location?.port ?? "" },
    ...annotationColumns(),
    ...TRACKING_COLUMNS,
    ...DRIFT_COLUMNS,
  ],
};

/** The names in the header row. */
export function csvColumns(kind: Kind, fields?: readonly string[]): string[] {
  return selectColumns(kind, fields).map((column) => column.name);
}

/** `fields` are names of top-level fields; names that are not fields of the kind are ignored. */
export function renderCsv<K extends Kind>(
  kind: K,
  entities: Paced<Partial<Entities[K]>>,
  fields?: readonly string[],
): Paced<string> {
  return renderRows(selectColumns(kind, fields), entities);
}

function selectColumns<K extends Kind>(kind: K, fields?: readonly string[]): readonly Column<Entities[K]>[] {
  const columns: readonly Column<Entities[K]>[] = COLUMNS[kind];
  return fields === undefined ? columns : columns.filter((column) => fields.includes(column.field));
}

function* renderRows<E>(columns: readonly Column<E>[], entities: Paced<Partial<E>>): PacedText {
  yield `${columns.map((column) => column.name).join(",")}\r\n`;
  yield* mapPaced(entities, (entity) => {
    const row = columns.map(({ value }) => renderCell(value(entity))).join(",");
    // A single empty cell would be an empty line, which many programs skip.
    return row === "" ? '""\r\n' : `${row}\r\n`;
  });
}

const NEEDS_ESCAPING = /^[\s=+\-@＝＋－＠]|\s$|["\r\n,]|\p{Cc}|\p{Cs}/u;
/** Spreadsheets skip leading spaces, and some treat the full-width forms like the ASCII characters. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;
const UNPRINTABLE = /[^\P{Cc}\t\r\n]|\p{Cs}/gu;

/** Cells without any of these characters: numbers, times, addresses and most ids. The test is much faster. */
const IS_PLAIN = /^(?:[\w{][\w:/.{}-]*)?$/;

function renderCell(value: string): string {
  if (IS_PLAIN.test(value)) return value;
  if (!NEEDS_ESCAPING.test(value)) return value;
  const printable = value.replace(UNPRINTABLE, "\uFFFD");
  const text = FORMULA.test(printable) ? `'${printable}` : printable;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
