/** The network of the demo source as a topology graph, without a service, for tests of the formats. */
import { createDemoNetwork } from "../../src/sources/demo/demo-network.ts";
import { device, graph, host, type ListedGraph, link } from "./sample-network.ts";

export function demoGraph(devices = 50, hosts = 300): ListedGraph {
  const claims = createDemoNetwork({ devices, hosts, seed: 1 }).claims();
  const end = (at: { device: string; port: string | number }) => ({
    device: at.device,
    port: String(at.port),
  });
  return graph(
    [...(claims.devices ?? [])].map(({ id, type = "SWITCH", annotations = {} }) =>
      device(id, { type, annotations }),
    ),
    [...(claims.links ?? [])].map(({ src, dst, type = "DIRECT", state = "ACTIVE" }) =>
      link(end(src), end(dst), { type, state }),
    ),
    [...(claims.hosts ?? [])].flatMap(({ mac, vlan, ipAddresses = [], locations: [at] }) =>
      at === undefined
        ? []
        : [
            host(mac, end({ device: at.elementId, port: at.port }), {
              ipAddresses,
              vlan: String(vlan ?? "None"),
            }),
          ],
    ),
  );
}
