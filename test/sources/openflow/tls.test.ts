/** Certificates that are bound to datapath ids, and certificates of the service that are replaced while it runs. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { silentLogger } from "../../../src/lib/logger.ts";
import { createOpenflowSource } from "../../../src/sources/openflow/openflow.ts";
import { createCertificate, createCertificates } from "../../support/certificates.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { MemorySink } from "../../support/memory-sink.ts";
import { needs } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { deviceId, EmulatedNetwork } from "./emulator.ts";
import { TestResources } from "./harness.ts";

const resources = new TestResources();
afterEach(() => resources.close());
const available = needs("openssl");
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gazetteer-openflow-tls-"));
  if (!available) return;
  createCertificates(folder, []);
  for (const name of ["server", "server-new", "s1", "s2"])
    createCertificate(folder, name, { commonName: name });
});
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), "utf8");
const identity = (name: string) => ({
  cert: text(`${name}.pem`),
  key: text(`${name}.key`),
  rejectUnauthorized: false,
});

describe.skipIf(!available)("TLS", () => {
  test("a datapath id that is bound to a certificate is refused with another one", async () => {
    const tls = { cert: file("server.pem"), key: file("server.key"), ca: file("ca.pem") };
    const fingerprint = new X509Certificate(text("s2.pem")).fingerprint256;
    const allow = [
      { id: deviceId(1), certificate: "s1" },
      { id: deviceId(2), certificate: `sha256:${fingerprint}` },
    ];
    const source = await resources.startSource({ tls, allow });
    const net = new EmulatedNetwork();
    resources.defer(() => net.disconnect());
    const [one, two, impostor] = [net.add(1, 1), net.add(2, 1), new EmulatedNetwork().add(1, 1)];
    await impostor.connect({ port: source.port, tls: identity("s2") });
    await until(() => !impostor.connected, { what: "the impostor refused" });
    expect(source.metric("devices_refused_total")).toBe(1);
    expect(source.sink.devices.size).toBe(0);
    await one.connect({ port: source.port, tls: identity("s1") });
    await two.connect({ port: source.port, tls: identity("s2") });
    await until(() => source.sink.devices.size === 2, { what: "both switches" });
  });

  test("a bound certificate without an authority that verifies it is a fault", async () => {
    const allow = [{ id: deviceId(1), certificate: "s1" }];
    const options = { name: "x", listen: "127.0.0.1:0", forwarding: "bridge" as const, allow };
    const source = createOpenflowSource(options, { clock: new ManualClock(), log: silentLogger });
    await expect(source.run(new MemorySink(), new AbortController().signal)).rejects.toThrow("needs tls.ca");
  });

  test("new sessions use a replaced certificate; a pair that does not match is refused and the old one stays", async () => {
    copyFileSync(file("server.pem"), file("live.pem"));
    copyFileSync(file("server.key"), file("live.key"));
    const source = await resources.startSource({ tls: { cert: file("live.pem"), key: file("live.key") } });
    const net = new EmulatedNetwork();
    resources.defer(() => net.disconnect());
    const sw = net.add(1, 1);
    await sw.connect({ port: source.port, tls: { rejectUnauthorized: false } });
    await until(() => source.sink.devices.size === 1, { what: "a session with the first certificate" });
    expect(await servedName(source.port)).toBe("server");

    copyFileSync(file("server-new.pem"), file("live.pem"));
    await until(() => source.log.some((line) => line.includes("certificate refused")), {
      what: "the pair refused",
    });
    expect(await servedName(source.port)).toBe("server");

    copyFileSync(file("server-new.key"), file("live.key"));
    await until(async () => (await servedName(source.port)) === "server-new", {
      what: "the new certificate",
    });
    expect(sw.connected).toBe(true);
  });
});

/** The common name of the certificate that a new connection gets. */
function servedName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
