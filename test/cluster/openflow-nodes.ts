/** Three nodes of a cluster with one OpenFlow source, and emulated switches that connect again when they are disconnected. */
import type { Device, Link } from "../../src/model/entity.ts";
import type { EmulatedSwitch } from "../sources/openflow/emulator.ts";
import { openflowPortOf } from "../sources/openflow/mininet/service-under-test.ts";
import { until } from "../support/until.ts";
import { ServiceNode, type TestCluster } from "./service-nodes.ts";

export const SOURCE = "fabric";
const RECONNECT_MS = 100;

export class OpenflowNode extends ServiceNode {
  /** Where switches connect, also after the source has moved. */
  openflowPort = 0;

  static async start(
    cluster: TestCluster,
    name: string,
    options: Readonly<Record<string, unknown>>,
  ): Promise<OpenflowNode> {
    const node = new OpenflowNode(cluster, name);
    node.configure([], {
      sources: [{ type: "openflow", name: SOURCE, listen: "127.0.0.1:0", forwarding: "bridge", ...options }],
    });
    await node.start();
    node.openflowPort = await openflowPortOf(node.service);
    return node;
  }

  async devices(): Promise<Device[]> {
    return (JSON.parse(await this.read("devices")) as { devices: Device[] }).devices;
  }

  /** Verified and active. */
  async links(): Promise<string[]> {
    const { links } = JSON.parse(await this.read("links")) as { links: Link[] };
    return links
      .filter(({ state, verified }) => state === "ACTIVE" && verified)
      .map(({ id }) => id)
      .sort();
  }

  async metric(name: string): Promise<number> {
    const text = await (await this.service.fetch("/metrics")).text();
    return Number(new RegExp(`^gazetteer_openflow_${name}\\{[^}]*\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  }
}

/** Keeps sessions to all nodes until `signal` aborts. */
export function keepConnected(
  sw: EmulatedSwitch,
  nodes: readonly OpenflowNode[],
  signal: AbortSignal,
): Promise<unknown> {
  const keep = async (port: number) => {
    while (!signal.aborted) {
      if (!sw.isConnectedTo({ port })) await sw.connect({ port }).catch(() => {});
      await Bun.sleep(RECONNECT_MS);
    }
  };
  return Promise.all(nodes.map(({ openflowPort }) => keep(openflowPort)));
}

/** Waits until the node shows exactly these links. */
export async function untilLinks(node: OpenflowNode, expected: readonly string[]): Promise<void> {
  let links: string[] = [];
  const what = `${expected.length} links on ${node.name}`;
  const isComplete = async () => {
    links = await node.links();
    return links.join() === [...expected].sort().join();
  };
  await until(isComplete, { what }).catch((error: unknown) => {
    throw new Error(`${what}, there are ${links.join(" ")}\n${node.service.stderr().slice(-4000)}`, {
      cause: error,
    });
  });
}
