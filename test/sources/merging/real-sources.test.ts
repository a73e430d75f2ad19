/**
 * A datapath that three real sources know: an emulated OpenFlow switch, the SNMP agent of the same switch, and a plan. The
 * datapath id is the MAC address of the switch, as it is in most switches, and begins with zeros.
 */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { OID } from "../../../src/sources/snmp/tables/mib.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startService } from "../../support/service.ts";
import { SnmpAgent, type SnmpObject } from "../../support/udp-snmp-agent.ts";
import { until } from "../../support/until.ts";
import { EmulatedNetwork } from "../openflow/emulator.ts";

const MAC = "001b21000100";
const DATAPATH = Number.parseInt(MAC, 16);
const ID = `of:${MAC.padStart(16, "0")}`;
const OTHER_ID = "lldp:00:1B:21:00:01:00";

/**
 * Interfaces 49 and 50 are the OpenFlow ports 1 and 2: their MAC addresses are equal. OpenFlow cuts a name off after 15
 * characters, and then both ports have the same one, so that names match nothing here.
 */
const agentObjects = (mac: (port: number) => Buffer): SnmpObject[] => {
  const perPort = (column: string, value: (port: number) => SnmpObject[1]): SnmpObject[] =>
    [1, 2].map((port) => [`${column}.${48 + port}`, value(port)]);
  return [
    [`${OID.sysName}.0`, "leaf1"],
    [`${OID.lldpLocChassisIdSubtype}.0`, 4],
    [`${OID.lldpLocChassisId}.0`, Buffer.from(MAC, "hex")],
    [`${OID.entPhysicalClass}.1`, 3],
    [`${OID.entPhysicalSerialNum}.1`, "EC1931000042"],
    ...perPort(OID.ifName, (port) => `s${DATAPATH}-eth${port}`),
    ...perPort(OID.ifPhysAddress, mac),
    ...perPort(OID.ifType, () => 6),
    ...perPort(OID.ifAdminStatus, () => 1),
    ...perPort(OID.ifOperStatus, () => 1),
  ];
};

test("OpenFlow, SNMP and the plan are one device", async () => {
  const net = new EmulatedNetwork();
  const emulated = net.add(DATAPATH, 2);
  // As a switch says it that nobody described: its name is then that of SNMP.
  emulated.datapathDescription = "None";
  using agent = await SnmpAgent.start(
    agentObjects((port) => {
      const { mac } = emulated.describe({
        number: port,
        up: true,
        config: 0,
        wire: undefined,
        station: undefined,
      });
      return Buffer.from(mac.replaceAll(":", ""), "hex");
    }),
  );
  const folder = temporaryFolder();
  const plan = {
    devices: [
      { id: "netbox:7", serial: "ec1931000042", annotations: { name: "leaf1" } },
      { id: "netbox:9", serial: "EC1931000044", annotations: { name: "leaf2" } },
    ],
  };
  writeFileSync(join(folder, "plan.json"), JSON.stringify(plan));
  const sources = [
    { type: "openflow", listen: "127.0.0.1:0", forwarding: "bridge" },
    { type: "snmp", name: "campus", targets: [agent.target], community: "public", intervalSeconds: 1 },
    { type: "file", name: "plan", path: "plan.json", role: "intended" },
  ];
  writeFileSync(join(folder, "gazetteer.yaml"), JSON.stringify({ data: ":memory:", sources }));
  await using service = await startService({ args: ["--config", "gazetteer.yaml"], cwd: folder });
  const listening = await until(
    () => /openflow listening on \S+?:(\d+)/.exec(service.stdout() + service.stderr()),
    {
      what: "the OpenFlow listener",
    },
  );
  const get = async (path: string) => await (await service.fetch(`/controller/v1${path}`)).json();
  await until(async () => (await get("/devices")).devices[0]?.id === OTHER_ID, {
    what: "the device by SNMP",
  });
  await net.connect({ port: Number(listening[1]) });
  try {
    await until(async () => (await get("/devices")).devices[0]?.sources.length === 2, {
      what: "the joined device",
    });
    const { devices } = await get("/devices");
    expect(devices).toMatchObject([
      {
        id: ID,
        sources: ["openflow", "campus"],
        aliases: [OTHER_ID],
        serial: "EC1931000042",
        annotations: { name: "leaf1" },
      },
    ]);
    await until(
      async () =>
        (await get("/devices/ports")).ports.every(({ sources: s }: { sources: string[] }) => s.length === 2),
      {
        what: "the joined ports",
      },
    );
    const { ports } = await get("/devices/ports");
    expect(ports.map(({ element, port }: { element: string; port: string }) => [element, port])).toEqual([
      [ID, "1"],
      [ID, "2"],
    ]);
    const { devices: drifting } = await get("/devices?drift=any");
    expect(drifting).toMatchObject([{ id: "netbox:9", drift: { state: "missing" } }]);
  } finally {
    net.disconnect();
  }
});
