/** Schemas and examples of the formats other than JSON, by the name of the format. */
import Type from "typebox";
import { FORMATS } from "../../formats/formats.ts";
import { int64 } from "../../model/schema-parts.ts";
import type { Schema } from "./components.ts";
import { FIRST, HOST, LOG, NEWEST, SECOND } from "./example-network.ts";

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The members that every document has, for the graph formats that are JSON. */
const JSON_MEMBERS: Readonly<Record<string, Schema>> = {
  netjson: Type.Object({
    type: Type.Literal("NetworkGraph"),
    protocol: Type.String(),
    version: Type.String(),
    metric: Type.String(),
    revision: Type.Optional(Type.String()),
    label: Type.Optional(Type.String()),
    time: Type.Optional(int64("Epoch milliseconds of the last change of the graph.")),
    nodes: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    links: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  }),
  rfc8345: Type.Object({
    "ietf-network:networks": Type.Record(Type.String(), Type.Unknown()),
  }),
};

export const FORMAT_SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  FORMATS.filter(({ name, negotiable }) => name !== "json" && negotiable).map(({ name, description }) => [
    name,
    { ...(JSON_MEMBERS[name] ?? Type.String()), $id: capitalised(name), description: `${description}.` },
  ]),
);

export const FORMAT_EXAMPLES: Readonly<Record<string, unknown>> = {
  ndjson: `{"id":"${FIRST}","available":true}\n{"id":"${SECOND}","available":false}\n`,
  csv: `id,available\r\n${FIRST},true\r\n${SECOND},false\r\n`,
  events: `id: ${LOG}.8\nevent: removed\ndata: ${JSON.stringify({ resource: "hosts", ...NEWEST, value: HOST })}\n\n`,
  netjson: {
    type: "NetworkGraph",
    protocol: "gazetteer",
    version: "1",
    metric: "hops",
    nodes: [{ id: FIRST }, { id: SECOND }],
    links: [{ source: FIRST, target: SECOND, cost: 1 }],
  },
  rfc8345: {
    "ietf-network:networks": {
      network: [{ "network-id": "gazetteer:network", "network-types": {}, node: [{ "node-id": FIRST }] }],
    },
  },
};
