import { expect, test } from "bun:test";
import type { Kind } from "../../model/ids.ts";
import { isOwnResource } from "../../model/resources.ts";
import { createPrefixes } from "../onos/prefixes.ts";
import { Problem } from "../response/problem.ts";
import { parseRoute, type Route } from "./route.ts";

const item = (kind: Kind, id: string): Route => ({ read: "item", kind, id });

const VALID_PATHS: readonly (readonly [path: string, Route | undefined])[] = [
  ["/controller/v1/devices", { read: "list", kind: "devices" }],
  ["/controller/v1/links/", { read: "list", kind: "links" }],
  ["/onos/v1/hosts///", { read: "list", kind: "hosts" }],
  ["/controller/v1/%68osts", { read: "list", kind: "hosts" }],
  ["/controller/v1/topology", { read: "topology" }],
  ["/controller/v1/devices/ports", { read: "list", kind: "ports" }],
  ["/controller/v1/devices/ports/", { read: "list", kind: "ports" }],
  ["/controller/v1/devices/of:1", item("devices", "of:1")],
  ["/controller/v1/devices/of%3A1", item("devices", "of:1")],
  ["/controller/v1/devices/a/b", item("devices", "a/b")],
  ["/controller/v1/devices/a%2Fports", item("devices", "a/ports")],
  ["/controller/v1/devices/a/b/ports", { read: "devicePorts", id: "a/b" }],
  ["/controller/v1/hosts/00-00-00-00-00-0a/-1", item("hosts", "00:00:00:00:00:0A/None")],
  ["/controller/v1/hosts/00:00:00:00:00:0A%2F10", item("hosts", "00:00:00:00:00:0A/10")],
  ["/controller/v1/devices/a/b/ports/1", item("ports", "a/b/1")],
  ["/controller/v1/devices/a/ports/local/", item("ports", "a/local")],
  ["/controller/v1/devices/a/ports/x", item("devices", "a/ports/x")],
  ["/controller/v1/devices/ports/1", item("devices", "ports/1")],
  ["/controller/v1/devices/a%2Fports%2F1", item("devices", "a/ports/1")],
  ["/controller/v1/links/a/1-b/2", item("links", "a/1-b/2")],
  ["/controller/v1/links/a%2F1-b%2F2", item("links", "a/1-b/2")],
  ["/controller/v1/links/useStaleLinkAge", { read: "staleLinkAge" }],
  ["/controller/v1/hosts/unknown", item("hosts", "unknown")],
  ["/controller/v1/topology/clusters", { read: "clusters" }],
  ["/controller/v1/topology/clusters/3/", { read: "cluster", n: 3, part: "" }],
  ["/controller/v1/topology/clusters/3/links", { read: "cluster", n: 3, part: "links" }],
  ["/", undefined],
  ["/controllers/v1/devices", undefined],
  ["/metrics", undefined],
];

test.each(VALID_PATHS)("%s is parsed", (path, route) => {
  expect(parseRoute(path, createPrefixes(["onos"]), "GET")).toEqual(route);
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
  ["/controller/v1/devices/%E0%A4%A", "bad-path"],
])("%s is rejected with %s", (path, code) => {
  let thrown: unknown;
  try {
    parseRoute(path, createPrefixes([]), "GET");
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Problem);
  expect(thrown).toHaveProperty("code", code);
});

test("the first segment of every route is a resource that cannot be forwarded", () => {
  for (const [path, route] of VALID_PATHS) {
    const [, , , resource = ""] = path.split("/");
    if (route) expect(isOwnResource(decodeURIComponent(resource))).toBe(true);
  }
});
