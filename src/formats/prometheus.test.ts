import { expect, test } from "bun:test";
import { device, graph, host, hostileGraph, mac } from "../../test/support/sample-network.ts";
import { renderPrometheusDevices, renderPrometheusHosts } from "./prometheus.ts";

interface Group {
  targets: string[];
  labels: Record<string, string>;
}
const parse = (chunks: Iterable<string | undefined>): Group[] => JSON.parse([...chunks].join(""));
const at = { device: "of:1", port: "4" };

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["10.0.0.1:161", "10.0.0.1"],
  ["2001:DB8::1", "[2001:db8::1]"],
  ["[2001:db8::1]:830", "[2001:db8::1]"],
  ["[2001:db8::1]", "[2001:db8::1]"],
  ["sw-1.example.net:22", "sw-1.example.net"],
  ["", undefined],
  ["http://10.0.0.1/", undefined],
  ["a b", undefined],
  ["10.0.0.1, 10.0.0.2", undefined],
  ["-x", undefined],
])("management address %j is target %j", (managementAddress, target) => {
  const groups = parse(renderPrometheusDevices([device("of:1", { annotations: { managementAddress } })]));
  expect(groups.map((group) => group.targets)).toEqual(target === undefined ? [] : [[target]]);
});

test("the fields of a device are labels", () => {
  const [group] = parse(
    renderPrometheusDevices([
      device("of:1", {
        available: false,
        sources: ["a", "b"],
        annotations: { managementAddress: "2001:db8::1", "rack-no.": "7", rack_no_: "8" },
      }),
    ]),
  );
  expect(group?.labels).toMatchObject({
    __meta_gazetteer_device_id: "of:1",
    __meta_gazetteer_device_available: "false",
    __meta_gazetteer_device_chassis_id: "0",
    __meta_gazetteer_device_address: "2001:db8::1",
    __meta_gazetteer_device_sources: ",a,b,",
    __meta_gazetteer_device_annotation_managementAddress: "2001:db8::1",
    __meta_gazetteer_device_annotation_rack_no_: "7",
  });
});

test("a host is one target: its first address that is not link-local", () => {
  const groups = parse(
    renderPrometheusHosts([
      host(mac(1), at, { ipAddresses: ["169.254.1.1", "10.0.0.1", "2001:db8::1"] }),
      host(mac(2), at, { ipAddresses: ["fe80::1", "2001:db8::2"] }),
      host(mac(3), at, { ipAddresses: ["fe80::1"] }),
      host(mac(4), at),
    ]),
  );
  expect(groups.map((group) => group.targets)).toEqual([["10.0.0.1"], ["[2001:db8::2]"]]);
  expect(groups[1]?.labels).toMatchObject({
    __meta_gazetteer_host_id: `${mac(2)}/None`,
    __meta_gazetteer_host_addresses: ",fe80::1,2001:db8::2,",
    __meta_gazetteer_host_device: "of:1",
    __meta_gazetteer_host_port: "4",
  });
});

test("no devices give an empty array", () => {
  expect(parse(renderPrometheusDevices(graph([], []).devices))).toEqual([]);
});

test("any texts give the JSON that Prometheus documents", () => {
  const hostile = hostileGraph();
  const devices = hostile.devices.map((d) => ({
    ...d,
    annotations: { ...d.annotations, managementAddress: "192.0.2.1" },
  }));
  const groups = [...parse(renderPrometheusDevices(devices)), ...parse(renderPrometheusHosts(hostile.hosts))];
  expect(groups).toHaveLength(devices.length + hostile.hosts.length);
  for (const group of groups) {
    expect(Object.keys(group)).toEqual(["targets", "labels"]);
    // Prometheus rejects a target with a slash and an invalid label name.
    for (const target of group.targets) expect(target).toMatch(/^[\w.[\]:-]+$/);
    for (const [name, value] of Object.entries(group.labels)) {
      expect(name).toMatch(/^__meta_gazetteer_(device|host)_[a-zA-Z0-9_]*$/);
      expect(value.isWellFormed()).toBe(true);
    }
  }
});
