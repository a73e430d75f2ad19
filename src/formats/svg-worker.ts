/**
 * The thread that draws. It holds a drawing from its first part to its last chunk, so that the service has a few chunks of
 * a large document in memory, and can have the next one drawn while a slow client reads. What it imports is loaded each
 * time a thread starts, so it imports renderers and types only.
 */
import { errorMessage } from "../lib/error-message.ts";
import { withoutPauses } from "../lib/steps.ts";
import type { Link, Topology } from "../model/entity.ts";
import { joinIntoChunks } from "./chunks.ts";
import { cablesOf } from "./graph.ts";
import { drawNetwork } from "./svg.ts";
import type { DrawingParts, SvgReply, SvgRequest } from "./svg-messages.ts";

declare const self: Worker;

type Parts = { readonly [Part in keyof DrawingParts]: DrawingParts[Part][] };

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const partsById = new Map<number, Parts>();
/** The chunks that are not sent yet. */
const chunksById = new Map<number, Uint8Array<ArrayBuffer>[]>();

self.onmessage = ({ data: request }: MessageEvent<SvgRequest>) => {
  const { id } = request;
  try {
    if (request.op === "add") add(id, request.part, request.json);
    else if (request.op === "draw") draw(id, request.topology, request.revision);
    else if (request.op === "next") sendNext(id);
    else drop(id);
  } catch (error) {
    drop(id);
    send({ type: "failed", id, reason: errorMessage(error) });
  }
};

function add(id: number, part: keyof DrawingParts, json: Uint8Array): void {
  const parts = partsById.get(id) ?? { devices: [], links: [] };
  partsById.set(id, parts);
  // Not validated: the service has encoded it.
  for (const item of JSON.parse(decoder.decode(json))) parts[part].push(item);
}

function draw(id: number, topology: Topology, revision: number): void {
  const { devices, links } = partsById.get(id) ?? { devices: [], links: [] };
  partsById.delete(id);
  const hostCounts = new Map(devices.map(([device, hosts]) => [device.id, hosts]));
  const linkById = new Map<string, Link>(links.map((link) => [link.id, link]));
  const source = { links, link: (name: string) => linkById.get(name) };
  const cables = [...withoutPauses(cablesOf(source, new Set(hostCounts.keys())))];
  const drawing = { topology, revision, devices: devices.map(([device]) => device), cables, hostCounts };
  const chunks = [...withoutPauses(joinIntoChunks(drawNetwork(drawing)))].map((text) => encoder.encode(text));
  chunksById.set(id, chunks);
  send({ type: "drawn", id, bytes: chunks.reduce((sum, { length }) => sum + length, 0) });
}

function sendNext(id: number): void {
  const chunks = chunksById.get(id);
  const chunk = chunks?.shift();
  if (chunks?.length === 0) chunksById.delete(id);
  if (chunk) send({ type: "chunk", id, chunk }, [chunk.buffer]);
}

function drop(id: number): void {
  partsById.delete(id);
  chunksById.delete(id);
}

function send(reply: SvgReply, transfer: ArrayBuffer[] = []): void {
  self.postMessage(reply, transfer);
}
