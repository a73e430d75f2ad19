/** All endpoints of the interface, in the order of the OpenAPI document. */
import { CLUSTER_ENDPOINTS } from "./clusters.ts";
import { CONNECT_POINT_ENDPOINTS } from "./connect-points.ts";
import { DEVICE_ENDPOINTS } from "./devices.ts";
import type { Endpoint } from "./endpoint.ts";
import { HOST_ENDPOINTS } from "./hosts.ts";
import { LINK_ENDPOINTS } from "./links.ts";
import { PATH_ENDPOINTS } from "./paths.ts";
import { listProblems } from "./problems.ts";
import { search } from "./search.ts";
import { getTopology } from "./topology.ts";

export const ENDPOINTS: readonly Endpoint<unknown>[] = [
  ...DEVICE_ENDPOINTS,
  ...LINK_ENDPOINTS,
  ...HOST_ENDPOINTS,
  getTopology,
  search,
  ...CLUSTER_ENDPOINTS,
  listProblems,
  ...CONNECT_POINT_ENDPOINTS,
  ...PATH_ENDPOINTS,
];
