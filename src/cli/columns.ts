/** Which columns the tables of `gazetteer get` have. Bodies come from outside: whatever is not there is a dash. */
import type { Column } from "./table.ts";

export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at `a.b.c`. */
export function at(row: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isRow(value) ? value[key] : undefined), row);
}

const field = (title: string, path: string, colours: Column<Row>["colours"] = {}): Column<Row> => ({
  title,
  colours,
  cell: (row) => at(row, path),
});

/** `of:0000000000000001/3` */
function point(place: unknown, element: "device" | "elementId"): unknown {
  const [device, port] = [at(place, element), at(place, "port")];
  return device === undefined ? undefined : `${device}/${port}`;
}

/** Epoch milliseconds, a number or a string of them, as a time. */
function moment(ms: unknown): unknown {
  const time = new Date(Number(ms));
  return ms === undefined || Number.isNaN(time.getTime()) ? ms : time.toISOString().replace(".000Z", "Z");
}

export const LIST_COLUMNS: Readonly<Record<string, readonly Column<Row>[]>> = {
  devices: [
    field("ID", "id"),
    field("TYPE", "type"),
    field("AVAILABLE", "available", { yes: "green", no: "red" }),
    { title: "SINCE", cell: (row) => moment(row.lastUpdate) },
    field("MAKER", "mfr"),
    field("HARDWARE", "hw"),
    field("SOFTWARE", "sw"),
    field("ADDRESS", "annotations.managementAddress"),
  ],
  links: [
    { title: "FROM", cell: (row) => point(row.src, "device") },
    { title: "TO", cell: (row) => point(row.dst, "device") },
    field("TYPE", "type"),
    field("STATE", "state", { ACTIVE: "green", INACTIVE: "red" }),
    field("BOTH WAYS", "bidirectional"),
    field("VERIFIED", "verified", { no: "yellow" }),
  ],
  hosts: [
    field("MAC", "mac"),
    field("VLAN", "vlan"),
    field("IP ADDRESSES", "ipAddresses"),
    {
      title: "LOCATION",
      cell: ({ locations }) =>
        Array.isArray(locations) ? locations.map((place) => point(place, "elementId")) : undefined,
    },
    field("LAST CHANGED", "lastChanged"),
  ],
};

export const TOPOLOGY_COLUMNS: readonly Column<Row>[] = [
  field("DEVICES", "devices"),
  field("LINKS", "links"),
  field("HOSTS", "hosts"),
  field("CLUSTERS", "clusters"),
  { title: "LAST CHANGED", cell: (row) => moment(row.time) },
];

/** The columns for a list that was asked for with `fields=`: those, in that order. */
export const chosenColumns = (fields: string): Column<Row>[] =>
  fields.split(",").map((name) => field(name.toUpperCase(), name));
