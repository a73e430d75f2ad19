/** A full disk below a running service. */
import { expect, test } from "bun:test";
import { buildNetwork } from "../../sources/openflow/topologies.ts";
import { freePort } from "../../support/free-port.ts";
import { type Service, startService } from "../../support/service.ts";
import { canMount, fillDisk, mountSmallDisk } from "../../support/small-disk.ts";
import { until } from "../../support/until.ts";

const API = "/controller/v1";

const readiness = async (service: Service) => (await service.fetch("/readyz")).json();
const portsOf = async (service: Service, device: string): Promise<string> =>
  (await service.fetch(`${API}/devices/${device}/ports`)).text();

test.skipIf(!canMount)(
  "a full disk ends neither switch sessions nor reads; changes are stored once there is space",
  async () => {
    using disk = mountSmallDisk(2 * 1024 * 1024);
    const data = disk.folder;
    const openflowPort = freePort();
    await using service = await startService({
      args: ["--data", data, "--openflow", `127.0.0.1:${openflowPort}`],
    });
    const { net } = buildNetwork(2, [[1, 2]]);
    const [first, second] = [net.get(1), net.get(2)];
    for (const sw of [first, second]) await sw.connect({ port: openflowPort });
    await until(async () => (await (await service.fetch(`${API}/topology`)).json()).links === 2, {
      what: "the network",
    });
    expect((await readiness(service)).status).toBe("ready");

    const freeDisk = fillDisk(data);
    // Changes until one does not fit into what SQLite has already allocated.
    let up = true;
    const failing = await until(
      async () => {
        up = !up;
        first.setPort(1, up);
        const body = await readiness(service);
        return body.log && body;
      },
      { what: "a failed write", everyMs: 5 },
    );
    expect(failing).toMatchObject({
      status: "degraded",
      log: { status: "failing", error: expect.stringContaining("full") },
      sources: [{ status: "synced", restarts: 0 }],
    });
    const { revision } = failing;
    up = !up;
    first.setPort(1, up);
    const lastState = `"isEnabled":${up}`;
    second.setPort(1, false);
    for (let i = 0; i < 10; i++) {
      const response = await service.fetch(`${API}/topology`);
      expect(response.status).toBe(200);
      expect(response.headers.get("Gazetteer-Revision")).toBe(String(revision));
    }
    expect(await (await service.fetch("/metrics")).text()).toContain("gazetteer_log_writable 0");
    expect([first.connected, second.connected]).toEqual([true, true]);

    freeDisk();
    await until(async () => (await portsOf(service, second.id)).includes('"isEnabled":false'), {
      what: "the change that waited",
    });
    await until(async () => (await portsOf(service, first.id)).includes(lastState), {
      what: "the last state",
    });
    const body = await readiness(service);
    expect(body).toMatchObject({ status: "ready", sources: [{ status: "synced", restarts: 0 }] });
    expect(body.log).toBeUndefined();
    expect([first.connected, second.connected]).toEqual([true, true]);
    const lines = service.stderr().split("\n");
    expect(lines.filter((line) => line.includes("the log cannot be written"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("the log is written again"))).toHaveLength(1);

    // A stop does not wait for space either.
    fillDisk(data);
    await until(
      async () => {
        up = !up;
        first.setPort(1, up);
        return (await readiness(service)).log;
      },
      { what: "a failed write", everyMs: 5 },
    );
    expect(await service.stop()).toBe(0);
    first.disconnect();
    second.disconnect();
  },
);
