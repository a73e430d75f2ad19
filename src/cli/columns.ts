/**
 * The tables of `gazetteer get`: which rows a response body has, and their columns. Rows are unchecked JSON; a missing
 * value is shown as a dash. Columns marked `wide` are shown by `-o wide` only.
 */
import { DRIFT_STATES } from "../model/entity.ts";
import type { Column } from "./table.ts";

export type Row = Readonly<Record<string, unknown>>;
export type TableKind = "devices" | "ports" | "links" | "hosts" | "topology" | "clusters" | "members";

/** The names of devices and ports; `NetworkNames` implements it. */
export interface ColumnNames {
  nameOf(deviceId: unknown): string | undefined;
  namesOf(point: { readonly device?: unknown; readonly port?: unknown }): string | undefined;
}

export interface TableColumn extends Column<Row> {
  readonly wide?: boolean;
}

export const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path such as `annotations.managementAddress`. */
export function valueAt(row: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isRow(value) ? value[key] : undefined), row);
}

/** The lists that a body may have. `ports` is first, because the body of a device's ports is the device with its ports. */
const LIST_KINDS = ["ports", "clusters", "devices", "links", "hosts"] as const satisfies readonly TableKind[];

/** Returns undefined when the body is neither a list, an entity, nor the topology, such as a body of changes. */
export function tableRows(body: unknown): { kind: TableKind; rows: Row[] } | undefined {
  if (!isRow(body)) return undefined;
  const kind = LIST_KINDS.find((name) => Array.isArray(body[name]));
  if (kind !== undefined) {
    const items: unknown[] = Array.isArray(body[kind]) ? body[kind] : [];
    // The devices of a cluster are a list of ids.
    const areIds = items.length > 0 && items.every((item) => typeof item === "string");
    return areIds
      ? { kind: "members", rows: items.map((id) => ({ id })) }
      : { kind, rows: items.filter(isRow) };
  }
  if ("src" in body) return { kind: "links", rows: [body] };
  if ("mac" in body) return { kind: "hosts", rows: [body] };
  if ("available" in body) return { kind: "devices", rows: [body] };
  if ("deviceCount" in body) return { kind: "clusters", rows: [body] };
  return "clusters" in body ? { kind: "topology", rows: [body] } : undefined;
}

/** The id of a row, as an operand of `get`; undefined for the topology. */
export function rowId(row: Row): string | undefined {
  if (row.id !== undefined) return String(row.id);
  return row.element === undefined ? undefined : `${row.element}/${row.port}`;
}

/** The devices and ports that a row refers to by id, and whose names the table shows. */
export function pointsOf(kind: TableKind, row: Row): { device?: unknown; port?: unknown }[] {
  switch (kind) {
    case "links":
      return [row.src, row.dst].filter(isRow);
    case "hosts":
      return locationsOf(row).map((location) => ({
        device: valueAt(location, "elementId"),
        port: valueAt(location, "port"),
      }));
    case "ports":
      return [{ device: row.element }];
    case "members":
      return [{ device: row.id }];
    case "clusters":
      return [{ device: row.root }];
    default:
      return [];
  }
}

export const columnsOf = (kind: TableKind, { wide, drift, names }: ColumnOptions): TableColumn[] => [
  ...COLUMNS[kind](names).filter((column) => wide || column.wide !== true),
  ...(drift ? (kind === "topology" ? DRIFT_COUNTS : DRIFT) : []),
];

export interface ColumnOptions {
  readonly wide: boolean;
  /** Whether the query has the parameter `drift`. */
  readonly drift: boolean;
  readonly names: ColumnNames;
}

/** One column for each name in the parameter `fields`, in that order. */
export const columnsForFields = (fields: string): TableColumn[] =>
  fields.split(",").map((name) => field(name.toUpperCase(), name));

const field = (title: string, path: string, styles: Column<Row>["styles"] = {}): TableColumn => ({
  title,
  styles,
  cell: (row) => valueAt(row, path),
});
const wide = (column: TableColumn): TableColumn => ({ ...column, wide: true });
const locationsOf = ({ locations }: Row): unknown[] => (Array.isArray(locations) ? locations : []);

const TRACKING: readonly TableColumn[] = [
  wide(field("SOURCES", "sources")),
  wide(field("FIRST SEEN", "firstSeen")),
  wide(field("LAST CHANGED", "lastChanged")),
];

const DRIFT: readonly TableColumn[] = [
  field("DRIFT", "drift.state", { missing: "red", unplanned: "yellow", differs: "yellow" }),
  field("DRIFT SINCE", "drift.since"),
  { title: "DIFFERS IN", cell: (row) => Object.keys(valueAt(row, "drift.fields") ?? {}) },
];
const DRIFT_COUNTS: readonly TableColumn[] = DRIFT_STATES.map((state) => ({
  title: state.toUpperCase(),
  cell: (row) =>
    sumOf(["devices", "ports", "links", "hosts"].map((kind) => valueAt(row, `drift.${kind}.${state}`))),
}));

/** The sum of the counts that are numbers; undefined if none is. */
function sumOf(counts: readonly unknown[]): number | undefined {
  const known = counts.filter((count) => typeof count === "number");
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

const COLUMNS: Readonly<Record<TableKind, (names: ColumnNames) => readonly TableColumn[]>> = {
  devices: () => [
    field("ID", "id"),
    field("NAME", "annotations.name"),
    field("TYPE", "type"),
    field("AVAILABLE", "available", { yes: "green", no: "red" }),
    { title: "SINCE", cell: (row) => formatTime(row.lastUpdate) },
    field("ADDRESS", "annotations.managementAddress"),
    wide(field("MAKER", "mfr")),
    wide(field("HARDWARE", "hw")),
    wide(field("SOFTWARE", "sw")),
    wide(field("SERIAL", "serial")),
    wide(field("ROLE", "role")),
    ...TRACKING,
  ],
  ports: ({ nameOf }) => [
    field("DEVICE", "element"),
    { title: "DEVICE NAME", cell: (row) => nameOf(row.element) },
    field("PORT", "port"),
    field("NAME", "annotations.portName"),
    field("ENABLED", "isEnabled", { yes: "green", no: "red" }),
    field("TYPE", "type"),
    field("MB/S", "portSpeed"),
    ...TRACKING,
  ],
  links: ({ namesOf }) => [
    { title: "FROM", cell: (row) => formatConnectPoint(row.src, "device") },
    { title: "FROM NAME", cell: (row) => namesOf(isRow(row.src) ? row.src : {}) },
    { title: "TO", cell: (row) => formatConnectPoint(row.dst, "device") },
    { title: "TO NAME", cell: (row) => namesOf(isRow(row.dst) ? row.dst : {}) },
    field("TYPE", "type"),
    field("STATE", "state", { ACTIVE: "green", INACTIVE: "red" }),
    wide(field("ID", "id")),
    wide(field("BOTH WAYS", "bidirectional")),
    wide(field("VERIFIED", "verified", { no: "yellow" })),
    ...TRACKING,
  ],
  hosts: ({ namesOf }) => [
    field("ID", "id"),
    field("NAME", "annotations.name"),
    field("IP ADDRESSES", "ipAddresses"),
    {
      title: "LOCATION",
      cell: (row) => locationsOf(row).map((location) => formatConnectPoint(location, "elementId")),
    },
    { title: "LOCATION NAME", cell: (row) => pointsOf("hosts", row).map(namesOf) },
    wide(field("INNER VLAN", "innerVlan")),
    wide(field("CONFIGURED", "configured")),
    wide(field("SUSPENDED", "suspended")),
    ...TRACKING,
  ],
  topology: () => [
    field("DEVICES", "devices"),
    field("LINKS", "links"),
    field("HOSTS", "hosts"),
    field("CLUSTERS", "clusters"),
    { title: "LAST CHANGED", cell: (row) => formatTime(row.time) },
  ],
  clusters: ({ nameOf }) => [
    field("ID", "id"),
    field("DEVICES", "deviceCount"),
    field("LINKS", "linkCount"),
    field("ROOT", "root"),
    { title: "ROOT NAME", cell: (row) => nameOf(row.root) },
  ],
  members: ({ nameOf }) => [field("ID", "id"), { title: "NAME", cell: (row) => nameOf(row.id) }],
};

/** The text of a connect point, such as `of:0000000000000001/3`. */
function formatConnectPoint(point: unknown, elementKey: "device" | "elementId"): unknown {
  const element = valueAt(point, elementKey);
  return element === undefined ? undefined : `${element}/${valueAt(point, "port")}`;
}

/** Formats epoch milliseconds, given as a number or as text, in ISO 8601. Returns any other value unchanged. */
function formatTime(epochMs: unknown): unknown {
  const time = new Date(Number(epochMs));
  if (epochMs === undefined || Number.isNaN(time.getTime())) return epochMs;
  return time.toISOString().replace(".000Z", "Z");
}
