/** Recordings of real devices. What is expected was read from the recordings by hand, as an operator would. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWithShared } from "../../../../test/support/shared.ts";
import { readRecording } from "../../../../test/support/snmprec.ts";
import { canonicalClaim, type PortClaim } from "../../../model/claim.ts";
import { KINDS } from "../../../model/ids.ts";
import { type JoinedAgents, joinAgents } from "../join/join-agents.ts";
import { mapAgent } from "./map-agent.ts";

interface Expected {
  readonly file: string;
  readonly id: string;
  readonly device: object;
  /** Interfaces, of them enabled; all devices, cables and hosts. */
  readonly counts: {
    readonly ports: number;
    readonly enabled: number;
    readonly devices: number;
    readonly cables: number;
    readonly hosts: number;
    readonly faults: number;
  };
  /** Number → name, speed, enabled, aggregate. */
  readonly ports: Readonly<Record<string, readonly [string, number, boolean, string?]>>;
  /** Cables, from the device's side: port, neighbour, name of the neighbour's port. */
  readonly cables: readonly string[];
  /** MAC/VLAN at port. */
  readonly hosts: readonly string[];
}

const EXPECTED: readonly Expected[] = [
  {
    file: "arista_eos.snmprec",
    id: "serial:JPE00000000",
    device: { type: "SWITCH", mfr: "Arista Networks", hw: "DCS-7050S-52", sw: "4.18.10M" },
    counts: { ports: 55, enabled: 10, devices: 7, cables: 6, hosts: 10, faults: 0 },
    ports: {
      "43": ["Ethernet43", 10_000, true, "Port-Channel1"],
      "44": ["Ethernet44", 10_000, true, "Port-Channel1"],
      "999001": ["Management1", 0, false],
      "1000001": ["Port-Channel1", 20_000, true],
    },
    cables: [
      "1 lldp:00:1B:21:BB:E6:F0 00:1B:21:BB:E6:F0",
      "47 lldp:C4:7D:4F:D4:49:1D \\A 7050s-estudio Et47\\",
      "48 lldp:C4:7D:4F:C4:46:C0 Te1/3",
    ],
    // Ports 47 and 48 lead to switches. The storage is behind the aggregate, in its access VLAN.
    hosts: ["24:5E:BE:36:B8:D2/None 1000001", "00:21:D8:8F:05:C1/13 46"],
  },
  {
    file: "nxos_n3k-3064pq.snmprec",
    id: "lldp:F8:72:EA:E0:09:BC",
    device: { type: "SWITCH", mfr: "Cisco Systems, Inc.", hw: "N3K-C3064PQ-10GX" },
    counts: { ports: 54, enabled: 5, devices: 3, cables: 2, hosts: 0, faults: 0 },
    ports: {
      "83886080": ["mgmt0", 100, true],
      "369098761": ["port-channel10", 40_000, true],
      // No table names the members: the aggregate has the address of this port.
      "436404224": ["Ethernet1/49", 40_000, true, "port-channel10"],
    },
    // LLDP and CDP of one neighbour are one cable. All names are anonymised to one text.
    cables: ["436404224 lldp:18:E7:28:92:28:78 Ethernet1/49", "83886080 snmp:_private_ GigabitEthernet0/0"],
    hosts: [],
  },
  {
    file: "procurve.snmprec",
    id: "serial:_private_",
    device: { type: "SWITCH", mfr: "Aruba", hw: "JL074A", sw: "KB.16.11.0020" },
    counts: { ports: 78, enabled: 60, devices: 8, cables: 7, hosts: 35, faults: 0 },
    ports: {
      "21": ["21", 100, true],
      "55": ["A1", 10_000, true, "Trk1"],
      "56": ["A2", 10_000, true, "Trk1"],
      "57": ["A3", 0, false],
      "962": ["Trk1", 20_000, true],
    },
    cables: [
      "27 lldp:B8:A4:4F:B9:3D:1A B8:A4:4F:B9:3D:1A",
      // Its chassis id is an IP address.
      "44 lldp:00:04:F2:C6:70:78 00:04:F2:C6:70:78",
      "55 lldp:EC:02:73:96:21:00 1/7/18",
      "56 lldp:EC:02:73:96:81:00 1/7/18",
    ],
    hosts: ["00:0F:E5:01:88:E1/None 39", "AC:CC:8E:0A:FA:B5/None 5"],
  },
  {
    file: "routeros_crs317.snmprec",
    id: "lldp:CC:2D:E0:A3:3D:D5",
    device: { type: "SWITCH", mfr: "MikroTik" },
    counts: { ports: 20, enabled: 12, devices: 11, cables: 16, hosts: 3, faults: 0 },
    ports: {
      "9": ["sfp-sfpplus9", 10_000, true],
      "13": ["sfp-sfpplus13", 10_000, true, "shop-trunk"],
      "14": ["sfp-sfpplus14", 10_000, true, "shop-trunk"],
      "16": ["sfp-sfpplus16", 10_000, true, "server-trunk"],
      "17": ["ether1", 1000, true],
      "22": ["server-trunk", 10_000, true],
    },
    // The index of the table is no port: its own table has the interface.
    cables: [
      "13 lldp:64:D1:54:F2:A4:10 bridge1/shop-trunk/ether4",
      "17 lldp:64:D1:54:F2:A4:16 Phones",
      "14 lldp:00:17:95:B0:F3:81 SW PORT",
    ],
    // Its forwarding table has ifIndexes; 22 is an aggregate of ports that lead to switches.
    hosts: ["00:50:56:8F:32:19/None 9", "00:50:56:6E:8C:20/None 10", "00:1B:21:98:EB:5C/None 12"],
  },
  {
    file: "slxos_slx9150.snmprec",
    id: "serial:_private_",
    device: { type: "SWITCH", mfr: "Extreme Networks, Inc." },
    // Most chassis ids are anonymised to the name of an interface: these identify no device.
    counts: { ports: 115, enabled: 48, devices: 13, cables: 12, hosts: 0, faults: 40 },
    ports: {
      "201777408": ["Ethernet 0/55", 100_000, true, "Port-channel 64"],
      "201785600": ["Ethernet 0/56", 100_000, true, "Port-channel 64"],
      "671088704": ["Port-channel 64", 200_000, true],
    },
    // Two interfaces are called Ethernet 0/28: the bridge port has the index of this one.
    cables: ["201556288 lldp:B0:26:28:7A:17:51 vmnic2"],
    hosts: [],
  },
];

const isInterface = (id: string) => (port: PortClaim) => port.element === id && port.type !== undefined;

function cablesOf({ claims }: JoinedAgents, id: string): string[] {
  const names = new Map(
    claims.ports.map((port) => [`${port.element} ${port.port}`, port.annotations?.portName]),
  );
  return claims.links
    .filter(({ src }) => src.device === id)
    .map(({ src, dst }) => `${src.port} ${dst.device} ${names.get(`${dst.device} ${dst.port}`)}`);
}

describeWithShared("recordings of SNMP agents", "captures/snmp", (folder) => {
  const read = (file: string, target?: string) => mapAgent(readRecording(join(folder, file), target));

  test.each(EXPECTED.map((expected) => [expected.file, expected] as const))("%s", (file, expected) => {
    const joined = joinAgents([{ report: read(file) }]);
    const { claims, faults } = joined;
    const { id } = expected;
    expect(claims.devices.find((device) => device.id === id)).toMatchObject(expected.device);
    const ports = claims.ports.filter(isInterface(id));
    expect({
      ports: ports.length,
      enabled: ports.filter(({ isEnabled }) => isEnabled).length,
      devices: claims.devices.length,
      cables: claims.links.length / 2,
      hosts: claims.hosts.length,
      faults: faults.length,
    }).toEqual(expected.counts);
    for (const [number, [name, speed, isEnabled, aggregate]] of Object.entries(expected.ports)) {
      const port = ports.find((each) => each.port === number);
      expect([
        port?.annotations?.portName,
        port?.portSpeed,
        port?.isEnabled,
        port?.annotations?.aggregate,
      ]).toEqual([name, speed, isEnabled, aggregate]);
    }
    expect(cablesOf(joined, id)).toEqual(expect.arrayContaining([...expected.cables]));
    const hosts = claims.hosts.map(({ mac, vlan, locations }) => `${mac}/${vlan} ${locations[0]?.port}`);
    expect(hosts).toEqual(expect.arrayContaining([...expected.hosts]));
  });

  test("every link says how its ends were matched, is not verified, and both of its ends exist", () => {
    for (const { file } of EXPECTED) {
      const { claims } = joinAgents([{ report: read(file) }]);
      const ports = new Set(claims.ports.map(({ element, port }) => `${element} ${port}`));
      const devices = new Set(claims.devices.map(({ id }) => id));
      for (const { src, dst, verified, annotations } of claims.links) {
        expect(annotations?.matchedBy).toMatch(/^src .+; dst .+$/);
        expect(verified).toBe(false);
        for (const end of [src, dst]) {
          expect(devices).toContain(end.device);
          expect(ports).toContain(`${end.device} ${end.port}`);
        }
      }
    }
  });

  test("all together: all claims are valid, and no two have one id", () => {
    const reports = EXPECTED.map(({ file }, i) => read(file, `192.0.2.${i + 1}:161`));
    const { claims } = joinAgents(reports.map((report) => ({ report })));
    for (const kind of KINDS) {
      const ids = new Set<string>();
      for (const claim of claims[kind]) {
        const result = canonicalClaim(kind, claim);
        expect(result).toMatchObject({ ok: true });
        if (result.ok) ids.add(result.id);
      }
      expect(ids.size).toBe(claims[kind].length);
    }
    // The anonymised serial number of two identifies neither of them.
    const polled = claims.devices.filter(({ annotations }) => annotations?.protocol === "SNMP");
    expect(polled.map(({ id }) => id)).toEqual([
      "serial:JPE00000000",
      "lldp:F8:72:EA:E0:09:BC",
      "lldp:70:10:6F:8F:78:01",
      "lldp:CC:2D:E0:A3:3D:D5",
      "lldp:00:04:96:B7:F7:22",
    ]);
  });
});
