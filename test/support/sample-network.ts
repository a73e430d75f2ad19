/** Networks for the tests of the formats: several topologies, and one with hostile text in every field. */
import { type Attachment, attachmentsOf, cablesOf, type TopologyGraph } from "../../src/formats/graph.ts";
import { withoutPauses } from "../../src/lib/steps.ts";
import type { Cable } from "../../src/model/cable.ts";
import type { Device, Host, Link } from "../../src/model/entity.ts";
import { type ConnectPoint, hostId, linkId } from "../../src/model/ids.ts";

const TRACKING = {
  firstSeen: "2026-11-15T01:00:00.000Z",
  lastChanged: "2026-11-15T01:00:00.000Z",
  sources: ["demo"],
  revision: 7,
};

export function device(id: string, more: Partial<Device> = {}): Device {
  return {
    id,
    type: "SWITCH",
    available: true,
    role: "MASTER",
    mfr: "Acme",
    hw: "X1",
    sw: "1.2.3",
    serial: "S-1",
    driver: "default",
    chassisId: "0",
    lastUpdate: "1794704400000",
    humanReadableLastUpdate: "connected since 2026-11-15T01:00:00Z",
    ...TRACKING,
    ...more,
    annotations: { channelId: "", managementAddress: "", protocol: "", ...more.annotations },
  };
}

export function link(src: ConnectPoint, dst: ConnectPoint, more: Partial<Link> = {}): Link {
  return {
    src: { port: src.port, device: src.device },
    dst: { port: dst.port, device: dst.device },
    type: "DIRECT",
    state: "ACTIVE",
    id: linkId(src, dst),
    bidirectional: true,
    verified: true,
    ...TRACKING,
    ...more,
  };
}

/** Both directions of a cable. */
export function cable(a: ConnectPoint, b: ConnectPoint, more: Partial<Link> = {}): Link[] {
  return [link(a, b, more), link(b, a, more)];
}

export function host(mac: string, at: ConnectPoint, more: Partial<Host> = {}): Host {
  const location = { elementId: at.device, port: at.port };
  return {
    id: hostId(mac, more.vlan ?? "None"),
    mac,
    vlan: "None",
    innerVlan: "None",
    outerTpid: "0x0000",
    configured: false,
    suspended: false,
    ipAddresses: [],
    locations: [location],
    location,
    ...TRACKING,
    ...more,
  };
}

/** A graph whose collections are arrays. */
export interface ListedGraph extends TopologyGraph {
  readonly devices: readonly Device[];
  readonly links: readonly Link[];
  readonly hosts: readonly Host[];
}

export function graph(devices: Device[], links: Link[], hosts: Host[] = []): ListedGraph {
  const linksById = new Map(links.map((each) => [each.id, each]));
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  return {
    topology: {
      time: 1_794_704_400_000,
      devices: devices.length,
      links: links.length,
      clusters: 1,
      hosts: hosts.length,
    },
    revision: 42,
    devices: devices.toSorted(byId),
    links: links.toSorted(byId),
    hosts: hosts.toSorted(byId),
    link: (id) => linksById.get(id),
  };
}

const deviceIds = ({ devices }: ListedGraph) => new Set(devices.map(({ id }) => id));

export const listCables = (network: ListedGraph): Cable[] => [
  ...withoutPauses(cablesOf(network, deviceIds(network))),
];

export const listAttachments = (network: ListedGraph): Attachment[] => [
  ...withoutPauses(attachmentsOf(network, deviceIds(network))),
];

export const mac = (n: number): string =>
  (n.toString(16).toUpperCase().padStart(12, "0").match(/../g) ?? []).join(":");

/** Assigns port numbers to each device, in order. */
export function createPortAllocator() {
  const next = new Map<string, number>();
  const port = (name: string): ConnectPoint => {
    const number = (next.get(name) ?? 0) + 1;
    next.set(name, number);
    return { device: name, port: String(number) };
  };
  return { port, cable: (a: string, b: string, more: Partial<Link> = {}) => cable(port(a), port(b), more) };
}

/** Two core, `distributions` pairs below them, `access` switches below each pair, `hostsEach` on each of those. */
export function campus(distributions = 4, access = 9, hostsEach = 12): ListedGraph {
  const ports = createPortAllocator();
  const devices: Device[] = [];
  const links: Link[] = [];
  const hosts: Host[] = [];
  let count = 0;
  const add = (name: string) => {
    const id = `of:${(++count).toString(16).padStart(16, "0")}`;
    devices.push(device(id, { annotations: { name, managementAddress: `10.0.0.${count % 255}` } }));
    return id;
  };
  const core = [add("core-1"), add("core-2")] as const;
  links.push(...ports.cable(core[0], core[1]), ...ports.cable(core[0], core[1]));
  for (let d = 1; d <= distributions; d++) {
    const pair = [add(`dist-${d}a`), add(`dist-${d}b`)] as const;
    links.push(...ports.cable(pair[0], pair[1]));
    for (const upper of core) for (const lower of pair) links.push(...ports.cable(upper, lower));
    for (let a = 1; a <= access; a++) {
      const leaf = add(`access-${d}-${a}`);
      for (const upper of pair) links.push(...ports.cable(upper, leaf));
      for (let h = 0; h < hostsEach; h++) {
        const n = hosts.length + 1;
        hosts.push(host(mac(n), ports.port(leaf), { ipAddresses: [`10.1.${n >> 8}.${n & 255}`] }));
      }
    }
  }
  return graph(devices, links, hosts);
}

/** The campus with every state that a drawing shows. */
export function degradedCampus(): ListedGraph {
  const healthy = campus();
  const devices = healthy.devices.map((d, i) => {
    if (i === 7) return { ...d, available: false };
    if (i === 20) return { ...d, annotations: { ...d.annotations, conflict: "claimed twice" } };
    return d;
  });
  const down = devices[7]?.id;
  const links = healthy.links
    .filter((_, i) => i !== 40)
    .map((l, i): Link => {
      if (l.src.device === down || l.dst.device === down) return { ...l, state: "INACTIVE" };
      if (i % 17 === 0) return { ...l, verified: false };
      if (i === 60) return { ...l, annotations: { conflict: "two links on one port" } };
      return l;
    });
  return graph([...devices], links, [...healthy.hosts]);
}

export function leafSpine(spines: number, leaves: number): ListedGraph {
  const ports = createPortAllocator();
  const spineIds = Array.from({ length: spines }, (_, i) => `spine:${i + 1}`);
  const leafIds = Array.from({ length: leaves }, (_, i) => `leaf:${i + 1}`);
  const links = leafIds.flatMap((leaf) => spineIds.flatMap((spine) => ports.cable(spine, leaf)));
  return graph(
    [...spineIds, ...leafIds].map((id) => device(id)),
    links,
  );
}

/** A rectangular mesh; with `torus`, its borders are connected. */
export function mesh(columns: number, rows: number, torus = false): ListedGraph {
  const ports = createPortAllocator();
  const at = (x: number, y: number) => `sw:${x % columns},${y % rows}`;
  const devices: Device[] = [];
  const links: Link[] = [];
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      devices.push(device(at(x, y)));
      if (torus || x + 1 < columns) links.push(...ports.cable(at(x, y), at(x + 1, y)));
      if (torus || y + 1 < rows) links.push(...ports.cable(at(x, y), at(x, y + 1)));
    }
  }
  return graph(devices, links);
}

export const HOSTILE_TEXTS = [
  `"quoted" 'single' back\\slash \\" \\N \\`,
  "<script>alert(1)</script> & &amp; &#0; ]]> <!-- -->",
  "comma, semicolon; tab\t new\nline\r\nand\rcarriage",
  "=HYPERLINK(\"http://x/\")",
  "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1",
  "\u202Eright to left\u202C \u2066isolate \u200F مرحبا עולם",
  "emoji 🛰️👩‍👩‍👧 and 漢字",
  "nul\0 bell\u0007 escape\u001b[31m del\u007f c1\u0085\u009b bom\uFEFF non\uFFFE\uFFFF",
  "line\u2028paragraph\u2029",
  "{record|<port>shape} <b>html</b>",
  "z\u0335\u0321\u0322".repeat(40),
  "x".repeat(10_000),
  "🛰".repeat(5_000),
  "lone \uD800 surrogate \uDC00",
  "",
  " ",
]; // biome-ignore format: a list of texts

/** Valid ids: no white space and no control characters, but anything else up to 255 characters. */
export const HOSTILE_IDS = [
  `of:"quo'te\\`,
  "of:\\",
  "of:<script>]]>&amp;",
  "=1+1,;",
  "של:\u202E",
  "漢字🛰",
  "Has:Upper%41?a#b#c",
  "gazetteer:device/x",
  "http://[::1]/a|b^c`d{e}",
  "i".repeat(255),
  "00:00:00:00:00:01/None",
  "graph",
  "of:\uFFFE",
  "of:\uFFFF",
]; // biome-ignore format: a list of texts

/** Each device has a hostile id and the same hostile text in all its fields; the devices form a ring. */
export function hostileGraph(): ListedGraph {
  const ports = createPortAllocator();
  const ids = HOSTILE_TEXTS.map((_, i) => HOSTILE_IDS[i] ?? `of:${i}`);
  const devices = ids.map((id, i) => {
    const text = HOSTILE_TEXTS[i] ?? "";
    const annotations = {
      name: text,
      managementAddress: text,
      [text || "empty"]: text,
      "key\n<\"'&\0": text,
    };
    return device(id, { mfr: text, hw: text, sw: text, serial: text, driver: text, annotations });
  });
  const links = ids.flatMap((id, i) =>
    ports.cable(id, ids[(i + 1) % ids.length] ?? "", {
      annotations: { [`k ${i} <`]: HOSTILE_TEXTS[i] ?? "" },
    }),
  );
  links.push(
    link(ports.port(ids[0] ?? ""), ports.port(ids[2] ?? ""), { bidirectional: false, verified: false }),
  );
  links.push(...ports.cable(ids[0] ?? "", ids[0] ?? ""));
  const hosts = ids.map((id, i) =>
    host(mac(i + 1), ports.port(id), {
      ipAddresses: [`10.0.0.${i}`, `2001:db8::${i}`],
      annotations: { note: HOSTILE_TEXTS[i] ?? "" },
    }),
  );
  return graph(devices, links, hosts);
}
