/**
 * A service with a small tree of switches for the tests of problems: a file source takes devices down and cuts links. And the
 * parts of the page that these tests read.
 */
import { expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, startService } from "../support/service.ts";
import { type BrowserTab, eventually } from "./browser.ts";
import { MARKUP_NAME } from "./network-file.ts";

/** A tree: core, two distribution switches, two leaves below each. The last leaf has a name with markup. */
const PARENTS: Readonly<Record<string, string | undefined>> = {
  core: undefined,
  east: "core",
  west: "core",
  e1: "east",
  e2: "east",
  w1: "west",
  w2: "west",
};
const nameOf = (id: string): string => (id === "w2" ? MARKUP_NAME : `switch-${id}`);

interface Trouble {
  /** Devices that are not available. */
  readonly down?: readonly string[];
  /** Devices whose link to their parent is gone. */
  readonly cut?: readonly string[];
  readonly invalid?: boolean;
  /** Devices without links, all of them down. */
  readonly extra?: number;
}

function write(path: string, { down = [], cut = [], invalid = false, extra = 0 }: Trouble): void {
  const ids = Object.keys(PARENTS);
  const spare = Array.from({ length: extra }, (_, n) => `spare${n}`);
  const devices = [
    ...ids.map((id) => ({ id, available: !down.includes(id), annotations: { name: nameOf(id) } })),
    ...spare.map((id) => ({ id, available: false })),
  ];
  const links = ids.flatMap((id, n) => {
    const parent = PARENTS[id];
    if (parent === undefined || cut.includes(id)) return [];
    const [a, b] = [
      { device: parent, port: String(n) },
      { device: id, port: "1" },
    ];
    return [
      { src: a, dst: b, verified: true },
      { src: b, dst: a, verified: true },
    ];
  });
  const hosts = ["core", "core", "e1", "w1", "w2"].map((elementId, n) => ({
    mac: `02:00:00:00:00:0${n}`,
    locations: [{ elementId, port: `${20 + n}` }],
  }));
  const text = invalid ? "{" : JSON.stringify({ devices, links, hosts });
  writeFileSync(path, text);
}

interface ServedProblem {
  readonly id: string;
  readonly since: string;
}

export interface ProblemTree {
  readonly service: Service;
  write(trouble: Trouble): void;
  /** Those of now, as the service lists them. */
  servedProblems(): Promise<ServedProblem[]>;
  /** Writes the file and waits until the service lists exactly the problems with these ids. */
  cause(trouble: Trouble, ids: readonly string[]): Promise<void>;
  /** Removes the file. The service stops when the test file ends. */
  remove(): void;
}

export async function openProblemTree(): Promise<ProblemTree> {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-web-"));
  const path = join(folder, "network.json");
  write(path, {});
  const config = join(folder, "gazetteer.yaml");
  const sources = [{ type: "file", name: "racks", path }];
  writeFileSync(config, JSON.stringify({ sources }));
  const service = await startService({ args: ["--data", ":memory:", "--config", config] });
  await eventually("the network", async () => {
    const { devices } = await (await service.fetch("/controller/v1/devices")).json();
    expect(devices).toHaveLength(7);
  });
  const servedProblems = async (): Promise<ServedProblem[]> =>
    (await (await service.fetch("/controller/v1/topology/problems")).json()).problems;
  return {
    service,
    write: (trouble) => write(path, trouble),
    servedProblems,
    async cause(trouble, ids) {
      write(path, trouble);
      await eventually("the problems of the service", async () =>
        expect((await servedProblems()).map(({ id }) => id)).toEqual([...ids]),
      );
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const EAST_LOST = "link-lost:core/1-east/1";
export const EAST_DOWN = "device-unavailable:east";
export const E1_DOWN = "device-unavailable:e1";
export const W2_DOWN = "device-unavailable:w2";

export const listOf = ({ page }: BrowserTab) => page.locator("aside.problems");
export const linksOf = (tab: BrowserTab) => listOf(tab).locator(".problem-link");
export const titleIs = (tab: BrowserTab, title: string) =>
  eventually(`the title ${title}`, async () => expect(await tab.page.title()).toBe(title));
