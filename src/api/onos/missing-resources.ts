/**
 * The resources that ONOS 2.7 has under /onos/v1 and this service does not have: the first segment of the path, and what
 * this service has instead. Such a read is "not implemented" and not "not found", because programs interpret a 404 as an
 * empty list, or as an entity that is already gone. docs/from-onos.md has a row for each path.
 */

import { parseOnosPath } from "../forwarding/forward-path.ts";
import { isReadMethod, UnknownResourceProblem } from "../response/problem.ts";

const NO_FLOWS = "the service only reads and has no flows";
const NO_OPTICS = "the service has no optical measurements or settings";
const CONFIGURED_BY_FILE = "the service is configured by its own file";

const MISSING: ReadonlyMap<string, string> = new Map([
  ["applications", "no applications run in the service"],
  ["bit-error-rate", NO_OPTICS],
  ["configuration", CONFIGURED_BY_FILE],
  ["diagnostics", "the service has /metrics and a log"],
  ["docs", "the documents are /docs and /openapi.json"],
  ["flowobjectives", NO_FLOWS],
  ["flows", NO_FLOWS],
  ["groups", NO_FLOWS],
  ["intents", "the service only reads and has no intents"],
  ["keys", "the service has no keys of devices"],
  ["mastership", "the service masters no device; role in /onos/v1/devices is what the sources report"],
  ["mcast", "the service has no multicast routes"],
  ["meters", NO_FLOWS],
  ["metrics", "the metrics are at /metrics, for Prometheus"],
  ["modulation", NO_OPTICS],
  ["network", "what is configured by hand comes from a file source"],
  ["nextobjectives", NO_FLOWS],
  ["packet", "the service has no packet processors"],
  ["regions", "the service has no regions; annotations.KEY=VALUE selects devices by an annotation"],
  ["statistics", "the service has no counters of ports or flows"],
  ["ui", "the service has no settings of users"],
]);

const DOCS = "/docs/from-onos#what-only-onos-has";

/** The advice in the response to a request that writes, which no configuration makes this service forward. */
export const WRITE_ADVICE = `The key forward of a controller source passes on reads only: send this to ONOS itself; see ${DOCS}.`;

/** The problem of a path that ONOS has and that is neither served here nor forwarded; undefined for any other path. */
export function missingOnosResource(method: string, path: string): UnknownResourceProblem | undefined {
  const parsed = parseOnosPath(path);
  if (!parsed) return undefined;
  const { resource, writes } = parsed;
  const reason = MISSING.get(resource);
  if (!writes && reason === undefined) return undefined;
  const headers = { Allow: "OPTIONS" };
  if (writes || !isReadMethod(method)) {
    const refusal = writes
      ? "This request changes the state of ONOS whatever its method"
      : `${method} is not supported: this interface only reads`;
    return new UnknownResourceProblem("method-not-allowed", `${refusal}. ${WRITE_ADVICE}`, headers);
  }
  return new UnknownResourceProblem(
    "not-implemented",
    `ONOS has /onos/v1/${resource}, this service has not: ${reason}. To pass such reads on to ONOS, list ${resource} in the key forward of a controller source; see ${DOCS}.`,
    headers,
  );
}
