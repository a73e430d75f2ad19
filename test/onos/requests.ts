/**
 * The requests that both services answer, and the form in which their responses are compared. Statuses and JSON must be
 * equal, except for what docs/from-onos.md lists: the time of the topology, `humanReadableLastUpdate`, the order of lists
 * (and with it the ids of clusters), and ports with names.
 */
import { DEVICE_IDS } from "./network.ts";

export interface ComparedRequest {
  /** `{cluster:ROOT}` stands for the id of the cluster with that root. */
  readonly path: string;
  readonly method?: string;
  readonly accept?: string;
}

export interface ComparedResponse {
  readonly status: number;
  /** Of an error only its code, where the body is JSON: ONOS answers some errors with HTML or with nothing. */
  readonly body: unknown;
}

export type Fetch = (path: string, init: RequestInit) => Promise<Response>;

const { A, B, C, D, E, NETCONF, ROADM } = DEVICE_IDS;
const UNKNOWN = "of:0000000000000099";
const HOST = (end: string, vlan = "None") => `00:00:00:00:00:${end}%2F${vlan}`;

const PATHS: readonly string[] = [
  ...["devices", "devices/", "devices/ports", "links", "links/", "hosts", "topology", "topology/"],
  ...Object.values(DEVICE_IDS).flatMap((id) => [`devices/${id}`, `devices/${id}/ports`]),
  ...[A.toUpperCase(), NETCONF.toUpperCase(), encodeURIComponent(A)].map((id) => `devices/${id}`),
  ...[`devices/${UNKNOWN}`, `devices/${UNKNOWN}/ports`, "devices/x", "nothing", "", "devicesx"],
  // Filters of links, and parameters that ONOS ignores.
  ...Object.values(DEVICE_IDS).map((id) => `links?device=${id}`),
  ...["ALL", "INGRESS", "EGRESS", "egress", "Ingress"].flatMap((direction) => [
    `links?device=${B}&direction=${direction}`,
    `links?device=${B}&port=2&direction=${direction}`,
  ]),
  `links?device=${NETCONF.toUpperCase()}`,
  `links?device=${UNKNOWN}`,
  `links?device=${A}&port=99`,
  `links?device=${B}&port=x`,
  `links?device=${B}&direction=bogus`,
  `links?device=${A}&device=${C}&port=1&port=2`,
  ...["links?port=1", "links?direction=egress", "links?x=1", "devices?x", "hosts?x=1&x=2", "topology?x=1"],
  `devices/${A}?x=1`,
  // Hosts.
  ...["hosts/00:00:00:00:00:01/None", "hosts/00:00:00:00:00:AB/10", "hosts/00:00:00:00:00:ab/10"],
  ...["hosts/00:00:00:00:00:04/-1", "hosts/00:00:00:00:00:08/Any", "hosts/00:00:00:00:00:99/None"],
  ...[`hosts/${HOST("AB", "10")}`, `hosts/${HOST("03")}`, `hosts/${HOST("99")}`],
  // Clusters and connect points.
  "topology/clusters",
  ...[A, NETCONF, ROADM].flatMap((root) =>
    ["", "/devices", "/links"].map((part) => `topology/clusters/{cluster:${root}}${part}`),
  ),
  ...["topology/clusters/9", "topology/clusters/9/devices", "topology/clusters/9/links"],
  ...["topology/clusters/x", "topology/nothing"],
  ...[`${A}:4`, `${B}:3`, `${C}:1`, `${C}:2`, `${C}:3`, `${D}:1`, `${A}:99`, `${UNKNOWN}:1`].flatMap(
    (point) => [`topology/broadcast/${point}`, `topology/infrastructure/${point}`],
  ),
  ...[`${A}:1`, `${A}:2`, `${ROADM}:1`, `${ROADM}:5`].map((point) => `topology/infrastructure/${point}`),
  ...["topology/broadcast/x", `topology/broadcast/${A}:x`, `topology/infrastructure/${A}:x`],
  // Paths.
  ...[A, B, C, D, E, NETCONF, ROADM].flatMap((src) =>
    [A, C, E, NETCONF, UNKNOWN].filter((dst) => dst !== src).map((dst) => `paths/${src}/${dst}`),
  ),
  ...[HOST("01"), HOST("AB", "10"), HOST("05"), HOST("99")].flatMap((src) =>
    [HOST("04"), HOST("06"), B].map((dst) => `paths/${src}/${dst}`),
  ),
  ...[`${A}/${B}`, `${A}/${C}`, `${A}/${E}`, `${B}/${E}`, `${HOST("01")}/${HOST("AB", "10")}`].map(
    (ends) => `paths/${ends}/disjoint`,
  ),
];

export const REQUESTS: readonly ComparedRequest[] = [
  ...PATHS.map((path) => ({ path })),
  ...["HEAD", "POST", "PUT", "DELETE"].map((method) => ({ path: "devices", method })),
  ...["application/json", "*/*", "text/html", "text/html, */*;q=0.1"].flatMap((accept) => [
    { path: "hosts", accept },
    { path: "nothing", accept },
  ]),
];

export const nameOf = ({ path, method = "GET", accept }: ComparedRequest): string =>
  `${method} ${path}${accept ? ` (Accept: ${accept})` : ""}`;

/** `fetchPath` is given paths below `/onos/v1/`. */
export async function readAll(fetchPath: Fetch): Promise<Record<string, ComparedResponse>> {
  const { clusters } = (await (await fetchPath("topology/clusters", {})).json()) as {
    clusters: { id: number; root: string }[];
  };
  const clusterId = (root: string) => String(clusters.find((cluster) => cluster.root === root)?.id);
  const responses: Record<string, ComparedResponse> = {};
  for (const request of REQUESTS) {
    const path = request.path.replace(/\{cluster:(.*)\}/, (_, root: string) => clusterId(root));
    const response = await fetchPath(path, {
      method: request.method ?? "GET",
      headers: { accept: request.accept ?? "*/*" },
    });
    responses[nameOf(request)] = {
      status: response.status,
      body: comparedBody(response, await response.text()),
    };
  }
  return responses;
}

function comparedBody({ status }: Response, text: string): unknown {
  if (status === 200) return text === "" ? "" : comparable(JSON.parse(text));
  return text.startsWith("{") ? { code: JSON.parse(text).code } : undefined;
}

/** Without what differs on purpose, and with lists in a fixed order. The order of links in a path has a meaning. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return sorted(value.map(comparable));
  if (typeof value !== "object" || value === null) return value;
  const isPath = "cost" in value;
  const isCluster = "deviceCount" in value;
  // Of two disjoint paths with the same cost, chance decides in ONOS which is the primary one.
  if ("primary" in value && "backup" in value && costOf(value.primary) === costOf(value.backup))
    return sorted([comparable(value.primary), comparable(value.backup)]);
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    if (name === "time" || name === "humanReadableLastUpdate") return [name, typeof member];
    if (name === "id" && isCluster) return [name, typeof member];
    if (name === "port") return [name, String(member).replace(/^\[.*\]\((\d+)\)$/, "$1")];
    if (name === "links" && isPath && Array.isArray(member)) return [name, member.map(comparable)];
    return [name, comparable(member)];
  });
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const costOf = (path: unknown): unknown =>
  typeof path === "object" && path !== null && "cost" in path ? path.cost : undefined;

const sorted = (values: unknown[]): unknown[] =>
  values
    .map((value) => ({ value, key: JSON.stringify(value) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ value }) => value);
