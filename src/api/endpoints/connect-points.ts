/** The use of a port, for clients of ONOS: whether a broadcast may leave there, and whether it leads to another device. */
import Type from "typebox";
import { JSON_FORMAT } from "../../formats/formats.ts";
import { quote } from "../../lib/error-text.ts";
import type { Steps } from "../../lib/steps.ts";
import { canonicalPort } from "../../model/address.ts";
import type { ConnectPoint } from "../../model/ids.ts";
import { findConnectPoint, isBroadcastPoint, isInfrastructure } from "../../query/connect-point.ts";
import { parameterSet } from "../../query/parameters.ts";
import type { NetworkState } from "../../view/view.ts";
import { ProblemDetails } from "../response/problem.ts";
import { type Endpoint, type EndpointText, ITEM_PARAMETERS } from "./endpoint.ts";
import { devicePartRepresentation } from "./entity.ts";

interface ConnectPointOptions extends Omit<EndpointText, "tag"> {
  /** The segment before the port in the path, and the only member of the body. */
  readonly fact: "broadcast" | "infrastructure";
  readonly schemaId: string;
  readonly example: boolean;
  readonly find: (state: NetworkState, point: ConnectPoint) => Steps<boolean>;
}

function connectPointEndpoint(options: ConnectPointOptions): Endpoint<ConnectPoint> {
  const { fact, schemaId, example, find, ...text } = options;
  return {
    ...text,
    tag: "Topology",
    readName: "connectPoint",
    path: `/topology/${fact}/{device}:{port}`,
    match: ([, first, ...rest]) => (first === fact ? parseConnectPoint(rest.join("/")) : undefined),
    parameters: parameterSet(ITEM_PARAMETERS),
    variants: [
      {
        formats: [JSON_FORMAT],
        schema: Type.Object({ [fact]: Type.Boolean() }, { $id: schemaId }),
        example: { [fact]: example },
        read: (context, { device, port }, query) =>
          devicePartRepresentation(context, query, device, {
            key: keyOf(fact, port),
            changedAt: ({ graph, links, ports }) => Math.max(graph, links, ports),
            *render(state, { id }) {
              const point = yield* findConnectPoint(state, { device: id, port });
              if (!point)
                throw new ProblemDetails("not-found", `There is no port ${quote(port)} at ${quote(device)}.`);
              return JSON.stringify({ [fact]: yield* find(state, point) });
            },
          }),
      },
    ],
  };
}

const keyOf = (fact: string, port: string) => (device: string) => `${fact} ${device} ${port}`;

/** Parses `{device}:{port}`. The id of a device may contain colons, the port cannot. */
function parseConnectPoint(text: string): ConnectPoint | undefined {
  const colon = text.lastIndexOf(":");
  if (colon <= 0) return undefined;
  const port = canonicalPort(text.slice(colon + 1));
  if (port !== undefined) return { device: text.slice(0, colon), port };
  throw new ProblemDetails(
    "bad-path",
    `${quote(text.slice(colon + 1))} in the path is not a port: a decimal number, local or controller.`,
  );
}

export const CONNECT_POINT_ENDPOINTS = [
  connectPointEndpoint({
    id: "getBroadcast",
    summary: "Whether a broadcast may leave at a port",
    description: "True unless the port belongs to a link that is not on the spanning tree of its cluster.",
    fact: "broadcast",
    schemaId: "Broadcast",
    example: true,
    find: isBroadcastPoint,
  }),
  connectPointEndpoint({
    id: "getInfrastructure",
    summary: "Whether a port leads to another device",
    description: "True where an active link between available devices begins or ends at the port.",
    fact: "infrastructure",
    schemaId: "Infrastructure",
    example: false,
    find: isInfrastructure,
  }),
];
