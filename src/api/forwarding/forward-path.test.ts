import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseForwardPath } from "./forward-path.ts";

describe("a path that may be forwarded", () => {
  const cases: [path: string, resource: string, sent: string][] = [
    ["/onos/v1/flows", "flows", "flows"],
    ["/onos/v1/flows/", "flows", "flows/"],
    ["/onos/v1/%66%6Cows", "flows", "flows"],
    ["/onos/v1/flows/of:1/2", "flows", "flows/of:1/2"],
    ["/onos/v1/flows/a%20b%3Fc%23d", "flows", "flows/a%20b%3Fc%23d"],
    ["/onos/v1/flows/...", "flows", "flows/..."],
    ["/onos/v1/flows/%F0%9F%8C%8D", "flows", "flows/%F0%9F%8C%8D"],
    [
      "/onos/v1/network/configuration/ports/of:1%2F2/basic",
      "network",
      "network/configuration/ports/of:1%2F2/basic",
    ],
    ["/onos/v1/mastership/of:1/role", "mastership", "mastership/of:1/role"],
    ["/onos/v1/mastership/of:1/request/x", "mastership", "mastership/of:1/request/x"],
    ["/onos/sadis/subscribers/a", "/onos/sadis", "subscribers/a"],
  ];
  for (const [path, resource, sent] of cases) {
    test(path, () => expect(parseForwardPath(path)).toEqual({ resource, path: sent, writes: false }));
  }
});

describe("a path that is not forwarded", () => {
  for (const path of [
    "/onos/v1",
    "/onos/v1/",
    "/onos/v1//flows",
    "/onos/v1/flows//x",
    "/onos/v1/flows//",
    "/onos/v1/flows/..",
    "/onos/v1/flows/%2E%2e/x",
    "/onos/v1/flows/%2e",
    "/onos/v1/flows%2Fx",
    "/onos/v1/flows%5Cx",
    "/onos/v1/flows;x",
    "/onos/v1/flows%3Bx",
    "/onos/v1/flows/%252e",
    "/onos/v1/flows/%0a",
    "/onos/v1/flows/%7f",
    "/onos/v1/flows/%zz",
    "/onos/v1/flows/%ff",
    "/controller/v1/flows",
    "/ONOS/v1/flows",
    "/onos/v1flows",
    "/onos/v1/network/ports%2Fx",
    "/onos/v1/network/configuration/a%2F..%2Fb",
    "/onos/v1/network/configuration/a%2F%2Fb",
    "/onos/v1/network/configuration/%2Fb",
    "/onos/sadis",
    "/onos/sadis/",
    "/onos/../v1/flows",
    "/onos/sadis/a%2Fb",
  ]) {
    test(path, () => expect(parseForwardPath(path)).toBeUndefined());
  }
});

test.each([
  "v1/mastership",
  "v1/mastership/",
  "v1/flowobjectives/next",
  "v1/mastership/of:1/request",
  "v1/mastership/of:1/relinquish/",
  "%76%31/%6Dastership/of%3A1/r%65quest",
  "openstacknetworking/management/purge/rules",
  "openstacknetworking/management/config/arpmode/proxy",
  "openstacknode/configure/init/node/compute-1",
  "k8snode/configure/init/%61ll",
  "kubevirtnode/node/init/worker-1",
  "k8snetworking/ipam/net-1",
])("%s writes", (path) => expect(parseForwardPath(`/onos/${path}`)?.writes).toBe(true));

test("whatever is sent, a URL parser finds exactly the matched segments in it", () => {
  const piece = fc.oneof(
    fc.constantFrom("..", "%2e", "%2F", "/", "\\", ";", "%25", "flows", "%00", "?"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const parsed = parseForwardPath(`/onos/v1/${pieces.join("").replaceAll("?", "")}`);
      if (!parsed) return;
      const { pathname, search, hash } = new URL(`http://h/base/${parsed.path}`);
      expect([pathname, search, hash]).toEqual([`/base/${parsed.path}`, "", ""]);
      const [resource = ""] = parsed.path.split("/");
      expect(decodeURIComponent(resource)).toBe(parsed.resource);
    }),
  );
});
