/**
 * A service whose devices a saved view puts into rows, one row for each kind of cable: the test knows where on the screen
 * each cable and each device is, and nothing else is near it.
 */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PALETTES } from "../../src/web/map/palette.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { type BrowserTab, eventually } from "./browser.ts";
import { difference, type Patch, type PatchBox, parseColour, readPatches, showGraphOnly } from "./patches.ts";

interface RowKind {
  /** Mb/s of the ports at both ends. */
  readonly portSpeed?: number;
  /** Fields of the link in both directions. */
  readonly link?: Readonly<Record<string, unknown>>;
  readonly isOneWay?: boolean;
  /** Another cable at the same port: two claims that cannot both hold. */
  readonly isContested?: boolean;
  /** The left device is down. */
  readonly isDown?: boolean;
}

const ROWS = {
  "1G": { portSpeed: 1000 },
  "10G": { portSpeed: 10_000 },
  "100G": { portSpeed: 100_000 },
  stated: { portSpeed: 1000, link: { annotations: { bandwidthMbps: "100000" } } },
  inactive: { link: { state: "INACTIVE" } },
  unverified: { link: { verified: false } },
  "one-way": { isOneWay: true },
  conflict: { isContested: true },
  down: { isDown: true },
} as const satisfies Record<string, RowKind>;

export type RowName = keyof typeof ROWS;
const NAMES: readonly RowName[] = [
  ...(["1G", "10G", "100G", "stated"] as const),
  ...(["inactive", "unverified", "one-way", "conflict", "down"] as const),
];

/** The devices at the left and at the right of a row, and the one that a contested cable leads to. */
export const endsOf = (row: RowName) => ({ left: `${row}-left`, right: `${row}-right` });
const contenderOf = (row: RowName): string => `${row}-contender`;

/** In map units. */
const LENGTH = 300;
const ROW_HEIGHT = 60;
/** Of the shorter side of the map: about a pixel for a unit, at which no line is thinner or more transparent. */
const SPAN = 660;
/** In pixels, of what is cut out of a cable, in its middle, and around a device. */
const CABLE_BOX = { width: 120, height: 24 } as const;
const DEVICE_BOX = { width: 24, height: 24 } as const;

function network() {
  const rows = NAMES.map((name): [RowName, RowKind] => [name, ROWS[name]]);
  const devices = rows.flatMap(([row, { isDown = false, isContested }]) => [
    { id: endsOf(row).left, type: "SWITCH", available: !isDown },
    { id: endsOf(row).right, type: "SWITCH", available: true },
    ...(isContested ? [{ id: contenderOf(row), type: "SWITCH", available: true }] : []),
  ]);
  const ports = rows.flatMap(([row, { portSpeed }]) =>
    portSpeed === undefined
      ? []
      : Object.values(endsOf(row)).map((element) => ({ element, port: "1", portSpeed })),
  );
  const links = rows.flatMap(([row, { link, isOneWay, isContested }]) => {
    const { left, right } = endsOf(row);
    const cable = (other: string) => {
      const [src, dst] = [
        { device: left, port: "1" },
        { device: other, port: "1" },
      ];
      const forward = { src, dst, state: "ACTIVE", verified: true, ...link };
      return isOneWay ? [forward] : [forward, { ...forward, src: dst, dst: src }];
    };
    return [...cable(right), ...(isContested ? cable(contenderOf(row)) : [])];
  });
  return { devices, ports, links, hosts: [] };
}

/** Positions of pins have y downwards. */
const pins = NAMES.flatMap((row, n) => [
  { device: endsOf(row).left, x: 0, y: n * ROW_HEIGHT },
  { device: endsOf(row).right, x: LENGTH, y: n * ROW_HEIGHT },
  ...("isContested" in ROWS[row] ? [{ device: contenderOf(row), x: -120, y: n * ROW_HEIGHT }] : []),
]);

/** `more` are other sections of the configuration. */
export async function startRows(more: Readonly<Record<string, unknown>> = {}): Promise<Service> {
  const folder = temporaryFolder();
  const path = join(folder, "network.json");
  writeFileSync(path, JSON.stringify(network()));
  const config = join(folder, "gazetteer.yaml");
  const views = [{ name: "rows", state: "", arrangement: { pins } }];
  writeFileSync(config, JSON.stringify({ sources: [{ type: "file", path }], views, ...more }));
  return startService({ args: ["--data", ":memory:", "--config", config] });
}

const CENTRE = { x: LENGTH / 2, y: ((NAMES.length - 1) * ROW_HEIGHT) / 2 };

/** What is cut out of each row: `1G`, the cable; `1G device`, its left device. */
export type PatchName = RowName | `${RowName} device`;
export type Patches = ReadonlyMap<PatchName, Patch>;

/** Opens the rows, with more parameters in the address. */
export async function openRows(tab: BrowserTab, query = ""): Promise<void> {
  const camera = [CENTRE.x, -CENTRE.y, SPAN, endsOf("1G").left].join(",");
  await tab.goto(`/?saved=rows&camera=${camera}${query}`);
  await showGraphOnly(tab);
}

async function sizeOfMap({ page }: BrowserTab): Promise<{ width: number; height: number }> {
  const box = await page.locator(".map").boundingBox();
  if (!box) throw new Error("no map");
  return box;
}

/** Waits until something is drawn where each cable and each device is. */
export async function readRows(tab: BrowserTab): Promise<Patches> {
  let patches: Patches = new Map();
  await eventually("all rows", async () => {
    patches = await readPatches(tab, boxesIn(await sizeOfMap(tab)));
    const empty = [...patches].filter(([, patch]) => !patch.columns().flat().some(isDrawn));
    expect(empty.map(([name]) => name)).toEqual([]);
  });
  return patches;
}

function boxesIn({ width, height }: { width: number; height: number }): ReadonlyMap<PatchName, PatchBox> {
  const scale = Math.min(width, height) / SPAN;
  const around = (x: number, y: number, size: typeof CABLE_BOX | typeof DEVICE_BOX): PatchBox => ({
    x: Math.round(width / 2 + (x - CENTRE.x) * scale - size.width / 2),
    y: Math.round(height / 2 + (y - CENTRE.y) * scale - size.height / 2),
    ...size,
  });
  return new Map(
    NAMES.flatMap((row, n): [PatchName, PatchBox][] => [
      [row, around(LENGTH / 2, n * ROW_HEIGHT, CABLE_BOX)],
      [`${row} device`, around(0, n * ROW_HEIGHT, DEVICE_BOX)],
    ]),
  );
}

export const BACKGROUND = parseColour(PALETTES.dark.background);
/** Something, however dimmed: a thin line that is dimmed differs by about 60 levels. */
const isDrawn = (colour: readonly [number, number, number]): boolean => difference(colour, BACKGROUND) > 30;
/** Of a fifth of the contrast that a line has to the background. What is dimmed has a third. */
export const isLit = (colour: readonly [number, number, number]): boolean =>
  difference(colour, BACKGROUND) > 60;

export function patchOf(patches: Patches, name: PatchName): Patch {
  const patch = patches.get(name);
  if (!patch) throw new Error(`no ${name}`);
  return patch;
}
