import { expect, test } from "bun:test";
import { createPrefixes } from "../onos/onos-dialect.ts";
import { findRoute, unknownPath } from "./routing.ts";

const VALID_PATHS: readonly (readonly [
  path: string,
  route: readonly [id: string, params?: unknown] | undefined,
])[] = [
  ["/controller/v1/devices", ["listDevices"]],
  ["/controller/v1/links/", ["listLinks"]],
  ["/onos/v1/hosts///", ["listHosts"]],
  ["/controller/v1/%68osts", ["listHosts"]],
  ["/controller/v1/topology", ["getTopology"]],
  ["/controller/v1/devices/ports", ["listPorts"]],
  ["/controller/v1/devices/ports/", ["listPorts"]],
  ["/controller/v1/devices/of:1", ["getDevice", "of:1"]],
  ["/controller/v1/devices/of%3A1", ["getDevice", "of:1"]],
  ["/controller/v1/devices/a/b", ["getDevice", "a/b"]],
  ["/controller/v1/devices/a%2Fports", ["getDevice", "a/ports"]],
  ["/controller/v1/devices/a/b/ports", ["getDevicePorts", "a/b"]],
  ["/controller/v1/hosts/00-00-00-00-00-0a/-1", ["getHostByMac", "00:00:00:00:00:0A/None"]],
  ["/controller/v1/hosts/00:00:00:00:00:0A%2F10", ["getHost", "00:00:00:00:00:0A/10"]],
  ["/controller/v1/devices/a/b/ports/1", ["getPort", "a/b/1"]],
  ["/controller/v1/devices/a/ports/local/", ["getPort", "a/local"]],
  ["/controller/v1/devices/a/ports/x", ["getDevice", "a/ports/x"]],
  ["/controller/v1/devices/ports/1", ["getDevice", "ports/1"]],
  ["/controller/v1/devices/a%2Fports%2F1", ["getDevice", "a/ports/1"]],
  ["/controller/v1/links/a/1-b/2", ["getLink", "a/1-b/2"]],
  ["/controller/v1/links/a%2F1-b%2F2", ["getLink", "a/1-b/2"]],
  ["/controller/v1/links/useStaleLinkAge", ["getStaleLinkAge"]],
  ["/controller/v1/hosts/unknown", ["getHost", "unknown"]],
  ["/controller/v1/topology/clusters", ["listClusters"]],
  ["/controller/v1/topology/clusters/3/", ["getCluster", 3]],
  ["/controller/v1/topology/clusters/3/links", ["listClusterLinks", 3]],
  ["/controller/v1/topology/broadcast/of:1:2", ["getBroadcast", { device: "of:1", port: "2" }]],
  ["/controller/v1/paths/of:1/of:2", ["listPaths", { src: "of:1", dst: "of:2" }]],
  [
    "/controller/v1/paths/00:00:00:00:00:0A/10/of:2/disjoint",
    ["listDisjointPaths", { src: "00:00:00:00:00:0A/10", dst: "of:2" }],
  ],
  ["/", undefined],
  ["/controllers/v1/devices", undefined],
  ["/metrics", undefined],
];

test.each(VALID_PATHS)("the endpoint of %s", (path, expected) => {
  const route = findRoute(path, createPrefixes(["onos"]));
  const [id, params = {}] = expected ?? [];
  expect(route?.endpoint.endpoint.id).toBe(id);
  if (expected) expect(route?.params).toEqual(params);
});

test.each([
  ["/controller", "version-unknown"],
  ["/controller/v2/devices", "version-unknown"],
  ["/controller/v1", "not-found"],
  ["/controller/v1/", "not-found"],
  ["/controller/v1//devices", "not-found"],
  ["/controller/v1/device", "not-found"],
  ["/controller/v1/devices%2Fports", "not-found"],
  ["/controller/v1/topology/devices", "not-found"],
  ["/controller/v1/topology/clusters/x", "not-found"],
  ["/controller/v1/topology/clusters/1/hosts", "not-found"],
  ["/controller/v1/topology/clusters/1/links/1", "not-found"],
])("%s has no endpoint and is %s", (path, code) => {
  const prefixes = createPrefixes([]);
  expect(findRoute(path, prefixes)).toBeUndefined();
  expect(unknownPath(path, prefixes, "GET")).toHaveProperty("code", code);
});

test.each(["/controller/v1/devices/%E0%A4%A", "/controller/v1/topology/broadcast/a:b"])(
  "%s names what is not valid",
  (path) => {
    expect(() => findRoute(path, createPrefixes([]))).toThrow(expect.objectContaining({ code: "bad-path" }));
  },
);
