/** What must hold at the end of a run, when everything is back and nothing changes. */
import { idOf } from "../../../src/client/types.ts";
import type { Device, Entities, Host } from "../../../src/model/entity.ts";
import type { Kind } from "../../../src/model/ids.ts";
import { served } from "../../support/served.ts";
import { type Churn, FIELDS } from "./churn.ts";
import type { Consumer } from "./consumer.ts";
import type { ChaosNode } from "./lab.ts";
import { contentOf, type Observed, PATHS } from "./observed.ts";
import type { Switches } from "./switches.ts";

const LISTED = ["devices", "links", "hosts"] as const satisfies readonly Kind[];
/** Revisions whose bodies are read again. */
const SAMPLES = 30;

async function read(node: ChaosNode, path: string): Promise<{ status: number; body: string }> {
  const response = await served(() => node.fetch(`/controller/v1/${path}`));
  return { status: response.status, body: await response.text() };
}

const listOf = async <K extends (typeof LISTED)[number]>(node: ChaosNode, kind: K): Promise<Entities[K][]> =>
  (JSON.parse((await read(node, kind)).body) as Record<K, Entities[K][]>)[kind];

/** What is not as it will be when all nodes have everything: the bodies, the last values of both networks, the consumers. */
export async function unsettled(
  nodes: readonly ChaosNode[],
  churn: Churn,
  switches: Switches,
  consumers: readonly Consumer[],
): Promise<string[]> {
  const faults: string[] = [];
  const [first, ...others] = nodes;
  if (!first) return faults;
  for (const path of PATHS) {
    const { status, body } = await read(first, path);
    if (status !== 200) faults.push(`${path} on ${first.name}: status ${status}`);
    for (const node of others)
      if ((await read(node, path)).body !== body)
        faults.push(`${path} on ${node.name} and ${first.name} differ`);
  }
  const devices = await listOf(first, "devices");
  faults.push(...missingValues(churn, devices, await listOf(first, "hosts")));
  faults.push(...switches.unsettled(devices, await listOf(first, "links")));
  for (const kind of LISTED) {
    const listed = new Map((await listOf(first, kind)).map((item) => [idOf(item), JSON.stringify(item)]));
    for (const { name, cache } of consumers) {
      const own = cache.all<Kind>(kind);
      const differing = [...listed].filter(([id, text]) => JSON.stringify(own.get(id)) !== text);
      const extra = [...own.keys()].filter((id) => !listed.has(id));
      if (differing.length + extra.length > 0)
        faults.push(`${name}: ${differing.length} ${kind} differ, ${extra.length} are too many`);
    }
  }
  return faults;
}

/** The view has the last value of each item of both networks. */
function missingValues(churn: Churn, devices: readonly Device[], hosts: readonly Host[]): string[] {
  const faults: string[] = [];
  const byId = new Map(devices.map((device) => [device.id, device]));
  const macs: string[] = [];
  for (const { source, versions, hostMacs } of churn.networks) {
    for (const [id, version] of versions)
      if (byId.get(id)?.[FIELDS[source]] !== version)
        faults.push(`${FIELDS[source]} of ${id} is ${byId.get(id)?.[FIELDS[source]]}, not ${version}`);
    macs.push(...hostMacs);
  }
  const shown = hosts.map(({ mac }) => mac.toUpperCase()).sort();
  if (shown.join() !== macs.sort().join()) faults.push(`hosts are ${shown.join(" ")}, not ${macs.join(" ")}`);
  return faults;
}

/** What was shown during the run is shown again: the changes of each revision, and bodies with `at`. */
export async function checkHistory(nodes: readonly ChaosNode[], observed: Observed): Promise<void> {
  let complete = 0;
  for (const node of nodes) {
    const { status, body } = await read(node, "topology?since=0");
    // A node that started without data has the history since the snapshot that it loaded.
    if (status === 410) continue;
    complete++;
    if (status !== 200)
      observed.fault(`topology?since=0 on ${node.name}: status ${status} ${body.slice(0, 200)}`);
    else checkChanges(node, body, observed);
    await checkBodies(node, observed);
  }
  if (complete === 0) console.log("no node has the whole history: bodies of the past are not compared");
}

function checkChanges(node: ChaosNode, body: string, observed: Observed): void {
  type Shown = { event: string; revision: number } & Omit<Parameters<typeof contentOf>[0][number], "type">;
  const { changes } = JSON.parse(body) as { changes: Shown[] };
  const byRevision = Map.groupBy(changes, ({ revision }) => revision);
  for (const [revision, hash] of observed.changes) {
    const shown = byRevision
      .get(revision)
      ?.map(({ event, resource, value }) => ({ type: event, resource, value }));
    if (!shown) observed.loss(`revision ${revision}, which a consumer was sent, is missing on ${node.name}`);
    else if (Bun.hash.wyhash(contentOf(shown)) !== hash)
      observed.loss(`revision ${revision} on ${node.name} is not what a consumer was sent`);
  }
}

async function checkBodies(node: ChaosNode, observed: Observed): Promise<void> {
  const all = [...observed.bodies];
  const step = Math.max(1, Math.floor(all.length / SAMPLES));
  for (const [key, hash] of all.filter((_, i) => i % step === 0)) {
    const [path, revision] = key.split("@");
    const { status, body } = await read(node, `${path}?at=${revision}`);
    if (status !== 200 || Bun.hash.wyhash(body) !== hash)
      observed.loss(`${path} of revision ${revision} on ${node.name} is not what it was: status ${status}`);
  }
}
