/** A small network in a file that a test can change: two spines, four leaves, hosts, and names meant to do harm. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface NetworkFile {
  readonly folder: string;
  /** For `serve --config`. */
  readonly config: string;
  write(change?: { readonly cut?: readonly string[]; readonly without?: readonly string[] }): void;
  /** What is no network at all. */
  spoil(): void;
  remove(): void;
}

export const HOSTILE = `<img src=x onerror="document.title='harmed'">`;
export const id = (n: number): string => `of:${n.toString(16).padStart(16, "0")}`;

const SPINES = [1, 2];
const LEAVES = [11, 12, 13, 14];

export const nameOf = (n: number): string => (n < 10 ? `spine${n}` : n === 14 ? HOSTILE : `leaf${n - 10}`);

function network(cut: readonly string[], without: readonly string[]) {
  const devices = [...SPINES, ...LEAVES]
    .map((n) => ({
      id: id(n),
      type: "SWITCH",
      available: true,
      mfr: n === 14 ? HOSTILE : "Edgecore",
      annotations: { name: nameOf(n), managementAddress: `10.9.0.${n}` },
    }))
    .filter((device) => !without.includes(device.id));
  const ports = devices.flatMap((device) =>
    [1, 2, 3, 4].map((port) => ({
      element: device.id,
      port: String(port),
      isEnabled: true,
      portSpeed: 10_000,
      annotations: { portName: `eth${port}` },
    })),
  );
  const links = SPINES.flatMap((spine) =>
    LEAVES.flatMap((leaf, i) => {
      const up = { device: id(spine), port: String(i + 1) };
      const down = { device: id(leaf), port: String(spine) };
      const state = cut.includes(`${nameOf(spine)}-${nameOf(leaf)}`) ? "INACTIVE" : "ACTIVE";
      return [
        { src: up, dst: down, state, verified: true },
        { src: down, dst: up, state, verified: true },
      ];
    }),
  ).filter(({ src, dst }) => !without.includes(src.device) && !without.includes(dst.device));
  const hosts = LEAVES.flatMap((leaf, i) =>
    [3, 4].map((port) => ({
      mac: `02:00:00:00:0${i}:0${port}`,
      ipAddresses: [`192.0.2.${leaf * 10 + port}`],
      locations: [{ elementId: id(leaf), port: String(port) }],
      annotations: { name: leaf === 14 ? HOSTILE : `pc-${leaf}-${port}` },
    })),
  ).filter((host) => host.locations.every((at) => !without.includes(at.elementId)));
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
    write: ({ cut = [], without = [] } = {}) => writeFileSync(path, JSON.stringify(network(cut, without))),
    spoil: () => writeFileSync(path, "{"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  file.write();
  return file;
}
