/** The columns of the tables of `gazetteer get`. Rows are unchecked JSON: a missing value is shown as a dash. */
import type { Column } from "./table.ts";

export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a path such as `annotations.managementAddress`. */
export function valueAt(row: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isRow(value) ? value[key] : undefined), row);
}

const fieldColumn = (title: string, path: string, styles: Column<Row>["styles"] = {}): Column<Row> => ({
  title,
  styles,
  cell: (row) => valueAt(row, path),
});

/** `of:0000000000000001/3` */
function formatConnectPoint(point: unknown, elementKey: "device" | "elementId"): unknown {
  const element = valueAt(point, elementKey);
  return element === undefined ? undefined : `${element}/${valueAt(point, "port")}`;
}

/** Epoch milliseconds, as a number or as text, in ISO 8601. */
function formatTime(epochMs: unknown): unknown {
  const time = new Date(Number(epochMs));
  if (epochMs === undefined || Number.isNaN(time.getTime())) return epochMs;
  return time.toISOString().replace(".000Z", "Z");
}

export const LIST_COLUMNS: Readonly<Record<string, readonly Column<Row>[]>> = {
  devices: [
    fieldColumn("ID", "id"),
    fieldColumn("TYPE", "type"),
    fieldColumn("AVAILABLE", "available", { yes: "green", no: "red" }),
    { title: "SINCE", cell: (row) => formatTime(row.lastUpdate) },
    fieldColumn("MAKER", "mfr"),
    fieldColumn("HARDWARE", "hw"),
    fieldColumn("SOFTWARE", "sw"),
    fieldColumn("ADDRESS", "annotations.managementAddress"),
  ],
  links: [
    { title: "FROM", cell: (row) => formatConnectPoint(row.src, "device") },
    { title: "TO", cell: (row) => formatConnectPoint(row.dst, "device") },
    fieldColumn("TYPE", "type"),
    fieldColumn("STATE", "state", { ACTIVE: "green", INACTIVE: "red" }),
    fieldColumn("BOTH WAYS", "bidirectional"),
    fieldColumn("VERIFIED", "verified", { no: "yellow" }),
  ],
  hosts: [
    fieldColumn("MAC", "mac"),
    fieldColumn("VLAN", "vlan"),
    fieldColumn("IP ADDRESSES", "ipAddresses"),
    {
      title: "LOCATION",
      cell: ({ locations }) =>
        Array.isArray(locations)
          ? locations.map((location) => formatConnectPoint(location, "elementId"))
          : undefined,
    },
    fieldColumn("LAST CHANGED", "lastChanged"),
  ],
};

export const TOPOLOGY_COLUMNS: readonly Column<Row>[] = [
  fieldColumn("DEVICES", "devices"),
  fieldColumn("LINKS", "links"),
  fieldColumn("HOSTS", "hosts"),
  fieldColumn("CLUSTERS", "clusters"),
  { title: "LAST CHANGED", cell: (row) => formatTime(row.time) },
];

/** One column for each name in the parameter `fields`, in that order. */
export const columnsForFields = (fields: string): Column<Row>[] =>
  fields.split(",").map((name) => fieldColumn(name.toUpperCase(), name));
