/** Good and bad values of every parameter that the OpenAPI document has. */
import { deviceId } from "./network.ts";
import { asObject, type Json, resolveRef } from "./openapi-document.ts";

export const LINK_ID = `${deviceId(1)}/1-${deviceId(2)}/2`;
export const PATH_VALUES: Readonly<Record<string, { good: string; bad: string }>> = {
  id: { good: deviceId(1), bad: "unknown" },
  mac: { good: "00:00:00:00:00:01", bad: "00:00:00:00:00:99" },
  vlan: { good: "-1", bad: "77" },
  n: { good: "0", bad: "999" },
  page: { good: "errors", bad: "unknown" },
  metric: { good: "Load", bad: "unknown" },
  src: { good: deviceId(1), bad: "unknown" },
  dst: { good: deviceId(2), bad: "unknown" },
  device: { good: deviceId(1), bad: "unknown" },
  port: { good: "1", bad: "77" },
};

/** For each query parameter: good values (with the other parameters they need) and a bad one. */
const VALUES: Readonly<Record<string, { good: string[]; bad: string }>> = {
  available: { good: ["true", "true,false"], bad: "maybe" },
  isEnabled: { good: ["false"], bad: "0" },
  bidirectional: { good: ["true"], bad: "both" },
  verified: { good: ["false"], bad: "x" },
  configured: { good: ["true"], bad: "x" },
  suspended: { good: ["true"], bad: "x" },
  role: { good: ["MASTER,NONE"], bad: "BOSS" },
  state: { good: ["ACTIVE"], bad: "UP" },
  mac: { good: ["00:00:00:00:00:01"], bad: "zz" },
  vlan: { good: ["None,10"], bad: "9999" },
  innerVlan: { good: ["20"], bad: "x" },
  revision: { good: ["1", "1,2"], bad: "one" },
  portSpeed: { good: ["10000"], bad: "fast" },
  ip: { good: ["10.0.0.0/24", "2001:db8::1"], bad: "10" },
  device: { good: [deviceId(1), `${deviceId(1)}&device=x`], bad: ",".repeat(1000) },
  drift: { good: ["any", "missing,differs"], bad: "lost" },
  direction: { good: ["all", `ingress&device=${deviceId(1)}`], bad: "sideways" },
  around: { good: [deviceId(1), `${deviceId(1)}&hops=2`], bad: "unknown" },
  hops: { good: ["1", `3&around=${deviceId(1)}`], bad: `99&around=${deviceId(1)}` },
  fields: { good: ["revision"], bad: "nonsense" },
  sort: { good: ["revision", "-revision"], bad: "nonsense" },
  limit: { good: ["1", "2"], bad: "0" },
  cursor: { good: [], bad: "=" },
  at: { good: ["1", "2026-11-15T01:00:01Z"], bad: "x" },
  since: { good: ["0", "1"], bad: "-1" },
  fold: { good: ["false", "true&since=0"], bad: "x" },
  conflict: { good: ["false", "true"], bad: "x" },
  count: { good: ["device"], bad: "x" },
  diff: { good: ["0..1", "1.."], bad: "x" },
  timeline: { good: ["5"], bad: "0" },
  incident: { good: ["previous", "next"], bad: "last" },
  from: { good: ["2026-11-15T01:00:00Z&timeline=2"], bad: "x&timeline=2" },
  to: { good: ["2026-11-16T01:00:00Z&timeline=2"], bad: "x&timeline=2" },
  "min-revision": { good: ["0", "1"], bad: "x" },
  q: { good: ["a"], bad: "" },
  explain: { good: ["true", "false", "true&at=1"], bad: "yes" },
};
/** A field of free text accepts any value; only too many of them are a fault. */
const ANY_TEXT = { good: ["x", "x,y"], bad: ",".repeat(1000) };

export function valuesOf(path: string, { name, schema }: Json): { good: string[]; bad: string } {
  const key = String(name);
  const { enum: allowed } = resolveRef(asObject(schema).items ?? schema);
  if (key === "type" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "NOTHING" };
  if (key === "format" && Array.isArray(allowed)) return { good: allowed.map(String), bad: "xml" };
  if (path.endsWith("/problems") && Array.isArray(allowed))
    return { good: allowed.map(String), bad: "nothing" };
  // Of problems there is no document of changes, only a stream.
  if (path.endsWith("/problems") && key === "since") return { good: ["1&format=events"], bad: "1" };
  // On ports it is a field; elsewhere it needs a device.
  if (key === "port")
    return path.endsWith("/ports") ? ANY_TEXT : { good: [`1&device=${deviceId(1)}`], bad: "1" };
  return VALUES[key] ?? ANY_TEXT;
}
