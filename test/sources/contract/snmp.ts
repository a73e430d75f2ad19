/** The `snmp` source: its peer is an SNMPv2c agent on loopback, a switch with an LLDP neighbour and a host. */
import { readFileSync } from "node:fs";
import { OID } from "../../../src/sources/snmp/tables/mib.ts";
import { type Behaviour, SnmpAgent, type SnmpObject } from "../../support/udp-snmp-agent.ts";
import { type ContractRow, HOSTILE_TEXT, type NetworkName } from "./row.ts";

const mac = (last: string): Uint8Array => Buffer.from(`02000000${last}`, "hex");
const MAX_VARBINDS = 300;

/** A switch with the ports `1` (to a neighbour) and `2` (to a host). */
function network(chassis: string, neighbour: string, host: number, text = "switch"): SnmpObject[] {
  const perPort = (column: string, value: (port: number) => SnmpObject[1]): SnmpObject[] =>
    [1, 2].map((port) => [`${column}.${port}`, value(port)]);
  return [
    [`${OID.sysDescr}.0`, text],
    [`${OID.sysName}.0`, text],
    [`${OID.sysLocation}.0`, text],
    [`${OID.lldpLocChassisIdSubtype}.0`, 4],
    [`${OID.lldpLocChassisId}.0`, mac(chassis)],
    ...perPort(OID.ifDescr, (port) => `eth${port}`),
    ...perPort(OID.ifType, () => 6),
    ...perPort(OID.ifAdminStatus, () => 1),
    ...perPort(OID.ifOperStatus, () => 1),
    ...perPort(OID.ifAlias, () => text),
    ...lldpNeighbour("1.1.1", neighbour, text),
    ...perPort(OID.dot1dBasePortIfIndex, (port) => port),
    [`${OID.dot1dTpFdbPort}.2.0.0.0.0.${host}`, 2],
    [`${OID.dot1dTpFdbStatus}.2.0.0.0.0.${host}`, 3],
  ];
}

const lldpNeighbour = (row: string, chassis: string, name: string): SnmpObject[] => [
  [`${OID.lldpRemChassisIdSubtype}.${row}`, 4],
  [`${OID.lldpRemChassisId}.${row}`, chassis === "" ? "" : mac(chassis)],
  [`${OID.lldpRemPortIdSubtype}.${row}`, 7],
  [`${OID.lldpRemPortId}.${row}`, "7"],
  [`${OID.lldpRemSysName}.${row}`, name],
];

const A = network("0100", "0200", 1);
const NETWORKS: Readonly<Record<NetworkName, readonly SnmpObject[]>> = {
  a: A,
  b: network("0300", "0200", 2),
  // Two rows without a chassis and a name, which identify no device.
  malformed: [...A, ...lldpNeighbour("1.1.2", "", ""), ...lldpNeighbour("1.1.3", "", "")],
  hostile: network("0100", "0200", 1, HOSTILE_TEXT),
};

/** One value after another in the column of interface names, without end; `huge` ends after more than is allowed. */
const manyValues =
  (end: number): Behaviour =>
  (request, answer) => {
    const [first = ""] = request.oids;
    const last = Number(first.slice(OID.ifDescr.length + 1) || 0);
    if (!first.startsWith(OID.ifDescr) || last >= end) return answer(request);
    const columns = request.oids.map((oid) =>
      oid.split(".").slice(0, OID.ifDescr.split(".").length).join("."),
    );
    const indexes = Array.from({ length: request.maxRepetitions }, (_, i) => last + i + 1);
    return {
      requestId: request.requestId,
      objects: indexes.flatMap((index) => columns.map((column): SnmpObject => [`${column}.${index}`, "x"])),
    };
  };

/** UDP has no connections: what is open are the ports that requests came from, while the system has them. */
function openPorts(ports: ReadonlySet<number>): number {
  const bound = readFileSync("/proc/net/udp", "utf8").matchAll(/^ *\d+: [0-9A-F]{8}:([0-9A-F]{4})/gm);
  return [...bound].filter(([, port = ""]) => ports.has(Number.parseInt(port, 16))).length;
}

const id = (last: string) => `lldp:02:00:00:00:${last}`;

export const row: ContractRow = {
  shown: {
    a: {
      devices: [id("01:00"), id("02:00")],
      links: [`${id("01:00")}/1-${id("02:00")}/7`, `${id("02:00")}/7-${id("01:00")}/1`],
      hosts: ["02:00:00:00:00:01/None"],
    },
    b: {
      devices: [id("02:00"), id("03:00")],
      links: [`${id("02:00")}/7-${id("03:00")}/1`, `${id("03:00")}/1-${id("02:00")}/7`],
      hosts: ["02:00:00:00:00:02/None"],
    },
  },
  malformed: 2,
  misbehaviours: ["huge", "endless", "slow"],
  hostileDevice: id("01:00"),
  async start() {
    const agent = await SnmpAgent.start(NETWORKS.a);
    let reads = 0;
    const become = async (behaviour: Behaviour) => {
      agent.behaviour = behaviour;
    };
    const serve: Behaviour = (request, answer) => {
      // The last table of a poll.
      if (request.oids[0] === OID.ipNetToPhysicalPhysAddress) reads++;
      return answer(request);
    };
    await become(serve);
    return {
      entry: {
        type: "snmp",
        targets: [agent.target],
        community: "public",
        intervalSeconds: 1,
        timeoutSeconds: 1,
        retries: 0,
        maxVarbinds: MAX_VARBINDS,
      },
      async show(name) {
        agent.objects = NETWORKS[name];
      },
      fail: () => become(() => undefined),
      misbehave: (how) => {
        if (how === "slow") return become(() => undefined);
        return become(manyValues(how === "huge" ? 2 * MAX_VARBINDS : Number.POSITIVE_INFINITY));
      },
      mend: () => become(serve),
      reads: () => reads,
      openCount: () => openPorts(agent.clientPorts),
      async [Symbol.asyncDispose]() {
        agent.stop();
      },
    };
  },
};
