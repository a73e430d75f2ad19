/** A network in a file that a test can change: two spines, four leaves, two hosts on each leaf, and names with markup. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface NetworkChange {
  /** Such as `spine1-leaf2`. */
  readonly inactiveLinks?: readonly string[];
  /** Device ids. */
  readonly removedDevices?: readonly string[];
  /** Device ids. */
  readonly unavailable?: readonly string[];
  /** The id of a device whose ports are all disabled. */
  readonly portsDown?: string;
  /** By MAC address, the number of the leaf that a host is at now. */
  readonly movedHosts?: Readonly<Record<string, number>>;
  /** The numbers of leaves in addition to those of 11 to 14. */
  readonly addedLeaves?: readonly number[];
  /** Such as `spine1-leaf2`: these devices have a second cable. */
  readonly doubleLinks?: readonly string[];
  /** Such as `spine1-leaf2`: the first cable of these devices is not there. */
  readonly lostLinks?: readonly string[];
}

export interface NetworkFile {
  readonly folder: string;
  /** The path of the configuration file, for `serve --config`. */
  readonly config: string;
  write(change?: NetworkChange): void;
  /** Writes text that is not JSON. */
  writeInvalid(): void;
  remove(): void;
}

export const MARKUP_NAME = `<img src=x onerror="document.title='harmed'">`;
export const deviceId = (n: number): string => `of:${n.toString(16).padStart(16, "0")}`;

const SPINES = [1, 2];
const LEAVES = [11, 12, 13, 14];

const deviceName = (n: number): string => (n < 10 ? `spine${n}` : n === 14 ? MARKUP_NAME : `leaf${n - 10}`);

function createNetwork({
  inactiveLinks = [],
  removedDevices = [],
  unavailable = [],
  portsDown,
  movedHosts = {},
  addedLeaves = [],
  doubleLinks = [],
  lostLinks = [],
}: NetworkChange) {
  const leaves = [...LEAVES, ...addedLeaves];
  const devices = [...SPINES, ...leaves]
    .map((n) => ({
      id: deviceId(n),
      type: "SWITCH",
      available: !unavailable.includes(deviceId(n)),
      mfr: n === 14 ? MARKUP_NAME : "Edgecore",
      annotations: { name: deviceName(n), managementAddress: `10.9.0.${n}` },
    }))
    .filter((device) => !removedDevices.includes(device.id));
  const ports = devices.flatMap((device) =>
    [1, 2, 3, 4].map((port) => ({
      element: device.id,
      port: String(port),
      isEnabled: device.id !== portsDown,
      portSpeed: 10_000,
      annotations: { portName: `eth${port}` },
    })),
  );
  const links = SPINES.flatMap((spine) =>
    leaves.flatMap((leaf, i) => {
      const name = `${deviceName(spine)}-${deviceName(leaf)}`;
      const state = inactiveLinks.includes(name) ? "INACTIVE" : "ACTIVE";
      const offsets = [...(lostLinks.includes(name) ? [] : [0]), ...(doubleLinks.includes(name) ? [20] : [])];
      return offsets.flatMap((offset) => {
        const up = { device: deviceId(spine), port: String(i + 1 + offset) };
        const down = { device: deviceId(leaf), port: String(spine + offset) };
        return [
          { src: up, dst: down, state, verified: true },
          { src: down, dst: up, state, verified: true },
        ];
      });
    }),
  ).filter(({ src, dst }) => !removedDevices.includes(src.device) && !removedDevices.includes(dst.device));
  const hosts = LEAVES.flatMap((leaf, i) =>
    [3, 4].map((port) => {
      const mac = `02:00:00:00:0${i}:0${port}`;
      return {
        mac,
        ipAddresses: [`192.0.2.${leaf * 10 + port}`],
        locations: [{ elementId: deviceId(movedHosts[mac] ?? leaf), port: String(port) }],
        annotations: { name: leaf === 14 ? MARKUP_NAME : `pc-${leaf}-${port}` },
      };
    }),
  ).filter((host) => host.locations.every((location) => !removedDevices.includes(location.elementId)));
  return { devices, ports, links, hosts };
}

export function createNetworkFile(): NetworkFile {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-web-"));
  const path = join(folder, "network.json");
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(config, `sources:\n  - type: file\n    name: racks\n    path: ${path}\n`);
  const file: NetworkFile = {
    folder,
    config,
    write: (change = {}) => writeFileSync(path, JSON.stringify(createNetwork(change))),
    writeInvalid: () => writeFileSync(path, "{"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  file.write();
  return file;
}
