/** A small network for the unit tests of the page, built from the sample entities that all tests share. */
import { Hosts } from "../../src/web/data/hosts.ts";
import { PageNetwork } from "../../src/web/data/page-network.ts";
import { cable, device, host } from "./sample-network.ts";

/** `a/1` as device and port. */
const parseEnd = (end: string) => {
  const [name = "", port = ""] = end.split("/");
  return { device: name, port };
};

export const sampleCable = (a: string, b: string, fields = {}) => {
  const [forward, reverse] = cable(parseEnd(a), parseEnd(b), fields);
  if (!forward || !reverse) throw new Error("a cable has two directions");
  return [forward, reverse] as const;
};

export const sampleHost = (mac: string, end: string, fields: Parameters<typeof host>[2] = {}) =>
  host(mac, parseEnd(end), fields);

/** Devices `a` to `d` in a chain, connected by three cables; `d` is down; one host on `a` and one on `c`. */
export function sampleNetwork(): PageNetwork {
  const namedHost = sampleHost("02:00:00:00:00:01", "a/9", {
    ipAddresses: ["192.0.2.1"],
    annotations: { name: "desk" },
  });
  const unnamedHost = sampleHost("02:00:00:00:00:02", "c/9", { ipAddresses: ["192.0.2.77", "2001:db8::7"] });
  const hosts = new Hosts();
  hosts.open({ key: "all", query: {}, includes: () => true });
  hosts.setLoaded("all", [], true);
  for (const value of [namedHost, unnamedHost]) hosts.apply({ event: "added", value, revision: 1 });
  const network = new PageNetwork(hosts);
  for (const id of ["a", "b", "c", "d"]) {
    const annotations = { name: `switch-${id}`, managementAddress: `10.0.0.${id.charCodeAt(0)}` };
    network.set({ resource: "devices", value: device(id, { annotations, available: id !== "d" }) });
  }
  for (const [a, b] of [
    ["a/1", "b/1"],
    ["b/2", "c/1"],
    ["c/2", "d/1"],
  ] as const) {
    for (const value of sampleCable(a, b)) network.set({ resource: "links", value });
  }
  return network;
}
