/**
 * The cluster in the box of the status: its nodes, which of them runs which source, how far each is behind, and the
 * stream of NATS. Without NATS the page says that it may be old, and why; it recovers by itself.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ClusterOverview } from "../../src/model/cluster-overview.ts";
import { deviceId, ServiceNode } from "../cluster/service-nodes.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";
import { needs } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { audit } from "./audit.ts";
import { type BrowserTab, openTab } from "./browser.ts";

const hasPrograms = needs("chromium", "nats-server");
/** How often the page reads the state of the service. */
const POLL_INTERVAL_MS = 10_000;
let nats: NatsServers;
let east: ServiceNode;
let west: ServiceNode;
let tab: BrowserTab;

beforeAll(async () => {
  if (!hasPrograms) return;
  nats = await startNatsServers();
  const cluster = { nats, name: "panel", replicas: 1 };
  [east, west] = [new ServiceNode(cluster, "east"), new ServiceNode(cluster, "west")];
  for (const [n, node] of [east, west].entries()) {
    node.configure([`site-${node.name}`]);
    node.writeNetwork(`site-${node.name}`, [{ id: deviceId(n + 1) }]);
    await node.start();
  }
  await until(areSettled, { what: "both sources to run" });
  tab = await openTab(east.service);
  await tab.page.clock.install();
});
afterAll(async () => {
  await tab?.close();
  await Promise.all([east?.kill(), west?.kill()]);
  await nats?.[Symbol.asyncDispose]();
});

const overview = async (): Promise<ClusterOverview> => (await east.service.fetch("/cluster")).json();
/** Nodes write what they run, and how far they are behind, every few seconds. */
const areSettled = async () => {
  const { nodes } = await overview();
  return nodes.length === 2 && nodes.every(({ held, lag }) => held.length === 1 && lag === 0);
};
const clusterOf = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await (await east.service.fetch("/readyz")).json()).cluster;

const status = () => tab.page.locator(".status");
const node = (name: string) => status().locator("li", { has: tab.page.getByText(name, { exact: true }) });
const poll = () => tab.page.clock.fastForward(POLL_INTERVAL_MS);

test.skipIf(!hasPrograms)("the nodes, their sources, their lag, and the stream of NATS", async () => {
  await tab.goto("/");
  await tab.page.locator('.status[data-level="live"]').waitFor();
  await status().getByRole("button").click();
  await status().getByRole("heading", { name: "Cluster panel" }).waitFor();
  for (const { name, service } of [east, west]) {
    await node(name).getByText(`Runs site-${name}`, { exact: true }).waitFor();
    expect(await node(name).textContent()).toMatch(
      new RegExp(`^${name} ${service.url} · revision \\d+ · 0 messages behind · since `),
    );
  }
  await status()
    .getByText(/^NATS: 1 replica, \d+ messages, \d+\.\d MiB$/)
    .waitFor();
  expect(await status().locator(".bad").count()).toBe(0);
  expect(await status().getByRole("alert").count()).toBe(0);
  expect(await audit(tab)).toEqual([]);
});

test.skipIf(!hasPrograms)("without NATS the page says so and keeps what it shows; it recovers", async () => {
  const [server] = nats.servers;
  await server?.kill();
  await until(async () => (await clusterOf()).staleSeconds !== undefined, { what: "a stale node" });
  await poll();
  await tab.page.locator('.status[data-level="stale"]').waitFor();
  await status()
    .getByRole("status")
    .getByText(/^May be .+ old$/)
    .waitFor();
  await status().getByRole("alert").getByText("This node cannot follow the log").waitFor();
  await status().locator(".error-text", { hasText: "NATS" }).first().waitFor();
  await tab.page.locator(".map-summary", { hasText: /^2 devices/ }).waitFor();
  expect(await audit(tab)).toEqual([]);

  await server?.start();
  await until(async () => (await clusterOf()).staleSeconds === undefined, { what: "a node that follows" });
  await until(areSettled, { what: "both sources to run" });
  await poll();
  await tab.page.locator('.status[data-level="live"]').waitFor();
  await status().getByRole("alert").waitFor({ state: "detached" });
  for (const { name } of [east, west])
    await node(name).getByText(`Runs site-${name}`, { exact: true }).waitFor();
  // What another node reports arrives again.
  west.writeNetwork("site-west", [{ id: deviceId(2) }, { id: deviceId(3) }]);
  await tab.page.locator(".map-summary", { hasText: /^3 devices/ }).waitFor();
  expect(tab.errors).toEqual([]);
});

test.skipIf(!hasPrograms)(
  "a node that starts appears in the open box, and is gone when it stops",
  async () => {
    // It runs no source, so that nothing but the list of nodes changes.
    await using spare = new ServiceNode({ nats, name: "panel", replicas: 1 }, "spare");
    spare.configure([]);
    await spare.start();
    const hasNodes = async (count: number) => (await overview()).nodes.length === count;
    await until(() => hasNodes(3), { what: "three nodes" });
    await poll();
    await node("spare").getByText("Runs no source", { exact: true }).waitFor();
    expect(await spare.service.stop()).toBe(0);
    await until(() => hasNodes(2), { what: "two nodes" });
    await poll();
    await node("spare").waitFor({ state: "detached" });
    await node("west").waitFor();
    expect(tab.errors).toEqual([]);
  },
);
