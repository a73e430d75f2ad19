/** Switches that another node relays: the certificate it has verified counts, and who may stand by for a connected switch. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate, createCertificates } from "../../support/certificates.ts";
import { needs } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { deviceId, EmulatedNetwork } from "./emulator.ts";
import { TestResources } from "./harness.ts";
import { LocalCluster, startRelay } from "./local-cluster.ts";
import { Rogue } from "./rogue.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function startNodes(options: Parameters<typeof resources.startSource>[0] = {}) {
  const cluster = new LocalCluster();
  const end = new AbortController();
  resources.defer(() => end.abort());
  const holder = await resources.startSource(options, { cluster: cluster.node("holder") });
  const relays = await Promise.all(
    ["b", "c"].map((name) => startRelay(cluster.node(name), options, end.signal)),
  );
  const [relay = 0, other = 0] = relays;
  return { cluster, holder, relay, other };
}

function addSwitch(dpid: number) {
  const sw = new EmulatedNetwork().add(dpid, 2);
  resources.defer(() => sw.disconnect());
  return sw;
}

describe("a second session of a datapath", () => {
  test("through another node stands by; it follows when the first ends, and the device stays available", async () => {
    const { holder, relay, other } = await startNodes();
    const sw = addSwitch(1);
    await sw.connect({ port: relay });
    await until(() => sw.masters.length === 1, { what: "the master" });
    await sw.connect({ port: holder.port });
    await sw.connect({ port: other });
    await until(() => holder.metric("standby_sessions") === 2, { what: "sessions that stand by" });
    expect(sw.masters.map(({ port }) => port)).toEqual([relay]);
    await until(() => holder.sink.ports.size === 2, { what: "its ports" });
    // Reported to the controllers that are there; the one that follows reads it again.
    sw.disconnectFrom({ port: relay });
    sw.setPort(2, false);
    await until(() => sw.masters.length === 1, { what: "the next master" });
    expect(sw.masters.map(({ port }) => port)).toEqual([holder.port]);
    await until(() => holder.sink.ports.get(`${deviceId(1)}/2`)?.isEnabled === false, { what: "the port" });
    expect(holder.metric("masters_replaced_total")).toBe(1);
    expect(holder.metric("sessions_total")).toBe(3);
    expect(holder.sink.devices.get(deviceId(1))).toMatchObject({ available: true, role: "MASTER" });
    expect(holder.sink.changeLog.filter((line) => line.startsWith("remove"))).toEqual([]);
    expect(sw.refusedChanges).toBe(0);
  });

  test("through the same node, or from another address, is rejected and flagged", async () => {
    const { holder, relay, other } = await startNodes();
    const sw = addSwitch(1);
    await sw.connect({ port: relay });
    await until(() => sw.masters.length === 1, { what: "the master" });
    const conflict = () => holder.sink.devices.get(deviceId(1))?.annotations?.conflict;
    const second = addSwitch(1);
    await second.connect({ port: relay });
    await until(() => !second.connected, { what: "the second of the same node refused" });
    await until(conflict, { what: "the flag" });
    const rogue = await Rogue.connect(other, { dpid: 1, ports: 2, address: "127.0.0.2" });
    await until(() => rogue.isClosed, { what: "the one of another address refused" });
    await until(() => conflict()?.includes("127.0.0.2"), { what: "its flag" });
    expect(holder.metric("standby_sessions")).toBe(0);
    expect(sw.masters.length).toBe(1);
  });

  test("is refused its role by a switch that has a master of a newer generation", async () => {
    const { cluster, holder } = await startNodes();
    const sw = addSwitch(1);
    await sw.connect({ port: holder.port });
    await until(() => sw.masters.length === 1, { what: "the master" });
    cluster.generation = 2n;
    const next = await resources.startSource({}, { cluster: cluster.node("next") });
    await sw.connect({ port: next.port });
    await until(() => sw.masters[0]?.port === next.port, { what: "the master of the next generation" });
    // The former node does not know it yet.
    sw.disconnectFrom({ port: holder.port });
    await sw.connect({ port: holder.port });
    await until(() => holder.metric("roles_refused_total") === 1, { what: "the refusal" });
    await until(() => holder.sink.devices.get(deviceId(1))?.role === "STANDBY", { what: "its role" });
    expect(sw.masters.map(({ port }) => port)).toEqual([next.port]);
  });
});

describe.skipIf(!needs("openssl"))("with TLS", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gazetteer-openflow-relay-"));
    createCertificates(folder, []);
    for (const name of ["server", "s1", "s2"]) createCertificate(folder, name, { commonName: name });
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  const identity = (name: string) => ({
    cert: readFileSync(file(`${name}.pem`), "utf8"),
    key: readFileSync(file(`${name}.key`), "utf8"),
    rejectUnauthorized: false,
  });

  test("a datapath id that is bound to a certificate is refused with another one, on every node", async () => {
    const tls = { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem") };
    const allow = [{ id: deviceId(1), certificate: "s1" }];
    const { holder, relay, other } = await startNodes({ tls, allow });
    const [sw, impostor] = [addSwitch(1), addSwitch(1)];
    await impostor.connect({ port: relay, tls: identity("s2") });
    await until(() => !impostor.connected, { what: "the impostor refused" });
    expect(holder.metric("devices_refused_total")).toBe(1);
    expect(holder.sink.devices.size).toBe(0);
    await sw.connect({ port: relay, tls: identity("s1") });
    await until(() => sw.masters.length === 1, { what: "the switch" });
    // Nor can it stand by.
    await impostor.connect({ port: other, tls: identity("s2") });
    await until(() => !impostor.connected, { what: "the impostor refused again" });
    await sw.connect({ port: other, tls: identity("s1") });
    await until(() => holder.metric("standby_sessions") === 1, { what: "the session that stands by" });
  });
});
