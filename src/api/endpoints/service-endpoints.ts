/**
 * The service's own paths, outside the versioned interface: health, metrics, the cluster, the OpenAPI document, the
 * documentation, the web page and the settings of its map, and under the alias `onos` the state of the service in ONOS's
 * format. Only the health endpoints need no credentials, so that a probe needs no password.
 */

import { onosStatus } from "../onos/status.ts";
import { getHealth, getReadiness } from "./health.ts";
import { getMapMetric, getMapSettings } from "./map.ts";
import { getClusterOverview, getMetrics, getOpenapi } from "./service.ts";
import type { ServiceEndpoint } from "./service-endpoint.ts";
import { getDocs, getDocsPage, getMap } from "./site.ts";

/** All service endpoints, in the order of the OpenAPI document. */
export const SERVICE_ENDPOINTS: readonly ServiceEndpoint[] = [
  getHealth,
  getReadiness,
  getMetrics,
  getClusterOverview,
  getMapSettings,
  getMapMetric,
  getOpenapi,
  getDocs,
  getDocsPage,
  getMap,
  onosStatus,
];
