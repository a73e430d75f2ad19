import { describe, expect, test } from "bun:test";
import { loadConfig } from "./config.ts";
import { renderFault } from "./faults.ts";

const controller = (name: string, ...forward: string[]) => ({
  type: "controller",
  name,
  url: "http://127.0.0.1:8181/onos/v1",
  forward,
});

function faultsOf(aliases: string, ...sources: object[]): string[] {
  const loaded = loadConfig({
    environment: { GAZETTEER_ALIASES: aliases, GAZETTEER_SOURCES: JSON.stringify(sources) },
  });
  return loaded.ok ? [] : loaded.faults.map(renderFault);
}

describe("what is forwarded", () => {
  test("is valid when each resource goes to one controller", () => {
    expect(faultsOf("onos", controller("a", "flows", "cluster"), controller("b", "applications"))).toEqual(
      [],
    );
    expect(faultsOf("", controller("a"))).toEqual([]);
  });

  test("needs the alias onos", () => {
    expect(faultsOf("other", controller("a", "flows"))).toEqual([
      "GAZETTEER_SOURCES: [0].forward: needs the alias onos, under which requests are forwarded (aliases: [onos])",
    ]);
  });

  test("goes to one controller only", () => {
    expect(faultsOf("onos", controller("a", "flows"), controller("b", "cluster", "flows"))).toEqual([
      "GAZETTEER_SOURCES: [1].forward[1]: flows is already forwarded to the source a",
    ]);
  });

  test("is nothing that this service has itself", () => {
    const own = ["devices", "links", "hosts", "topology", "paths"];
    expect(faultsOf("onos", controller("a", ...own))).toEqual(
      own.map(
        (name, i) =>
          `GAZETTEER_SOURCES: [0].forward[${i}]: ${name} cannot be forwarded: this service has it itself`,
      ),
    );
  });

  test("is one path segment, or another context of ONOS", () => {
    expect(faultsOf("onos", controller("a", "flows", "/onos/sadis", "/onos/segmentrouting"))).toEqual([]);
    for (const text of ["flows/x", "..", "a%2fb", "", "/onos/v1", "/onos/sadis/x", "/rests", "/onos/.."]) {
      expect(faultsOf("onos", controller("a", text))).toEqual([
        "GAZETTEER_SOURCES: [0].forward[0]: must be one path segment, such as flows, or another context of ONOS, such as /onos/sadis",
      ]);
    }
  });
});
