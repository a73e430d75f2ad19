/**
 * The thread that draws. It holds a drawing from its first part to its last chunk, so that the service has only a few
 * chunks of a large document in memory, and the thread can draw the next document while a slow client reads. Its imports
 * are loaded each time a thread starts, so it imports only renderers and types.
 */
import { serveRequests } from "../lib/request-worker.ts";
import { withoutPauses } from "../lib/steps.ts";
import type { Link, Topology } from "../model/entity.ts";
import { joinIntoChunks } from "./chunks.ts";
import { cablesOf } from "./graph.ts";
import { drawNetwork } from "./svg.ts";
import type { DrawingParts, SvgOperations } from "./svg-thread.ts";

type Parts = { readonly [Part in keyof DrawingParts]: DrawingParts[Part][] };

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const partsById = new Map<number, Parts>();
/** The chunks of each drawing that are not sent yet. */
const chunksById = new Map<number, Uint8Array<ArrayBuffer>[]>();

serveRequests<SvgOperations>({
  add: ({ id, part, json }) => orDrop(id, () => add(id, part, json)),
  draw: ({ id, topology, revision }) => orDrop(id, () => draw(id, topology, revision)),
  next: takeNext,
  drop,
});

/** Drops the drawing when `work` fails. */
function orDrop<Result>(id: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    drop(id);
    throw error;
  }
}

const noParts = (): Parts => ({ devices: [], links: [], lost: [] });

function add(id: number, part: keyof DrawingParts, json: Uint8Array): void {
  const parts = partsById.get(id) ?? noParts();
  partsById.set(id, parts);
  // The JSON is not validated, because the service has encoded it.
  for (const item of JSON.parse(decoder.decode(json))) parts[part].push(item);
}

/** Returns the length of the document. */
function draw(id: number, topology: Topology, revision: number): number {
  const { devices, links, lost } = partsById.get(id) ?? noParts();
  partsById.delete(id);
  const hostCounts = new Map(devices.map(([device, hosts]) => [device.id, hosts]));
  const linkById = new Map<string, Link>(links.map((link) => [link.id, link]));
  const source = { links, link: (name: string) => linkById.get(name) };
  const cables = [...withoutPauses(cablesOf(source, new Set(hostCounts.keys())))];
  const drawing = {
    topology,
    revision,
    devices: devices.map(([device]) => device),
    cables,
    lost,
    hostCounts,
  };
  const chunks = [...withoutPauses(joinIntoChunks(drawNetwork(drawing)))].map((text) => encoder.encode(text));
  chunksById.set(id, chunks);
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function takeNext(id: number): Uint8Array<ArrayBuffer> | undefined {
  const chunks = chunksById.get(id);
  const chunk = chunks?.shift();
  if (chunks?.length === 0) chunksById.delete(id);
  return chunk;
}

function drop(id: number): void {
  partsById.delete(id);
  chunksById.delete(id);
}
