/**
 * Imports one file: detects its format, parses it, and converts it to a document in the format of the file source. The text of
 * a fault or note begins with `file:line: `, as in the file source.
 */
import { isRecord } from "../lib/is-record.ts";
import { sameJson } from "../lib/same-json.ts";
import type { ClaimTypes } from "../model/claim.ts";
import { deviceKey, idKey, KINDS, linkId } from "../model/ids.ts";
import {
  decodeText,
  type Language,
  languageOf,
  linesOf,
  parse,
  readBytes,
} from "../sources/file/network-file.ts";
import { formatPath } from "../sources/file/records.ts";
import { type ClaimsResult, claimsOfGraph, type ImportedClaims } from "./graph-claims.ts";
import type { GraphResult, ImportPosition } from "./import-graph.ts";
import { parseContainerlab } from "./parse-containerlab.ts";
import { parseGraphml } from "./parse-graphml.ts";
import { parseNetJson } from "./parse-netjson.ts";
import { isRfc8345, parseRfc8345 } from "./parse-rfc8345.ts";

export const IMPORT_FORMATS = ["netjson", "graphml", "rfc8345", "containerlab"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export type ImportResult =
  | {
      readonly ok: true;
      readonly format: ImportFormat;
      readonly document: NetworkDocument;
      /** Number of records of each kind that the file source will read. */
      readonly counts: Readonly<Record<keyof ImportedClaims, number>>;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

/** Maximum text in which the line of a note is searched from the start. In a larger text the note shows the path instead. */
const MAX_SEARCHED_CHARS = 4 * 1024 * 1024;
/** Maximum number of notes in the result. Further ones are only counted. */
const MAX_NOTES = 50;

export async function importFile(path: string, format?: ImportFormat): Promise<ImportResult> {
  const content = await readBytes(path);
  if (!content.ok) return { ok: false, message: `${path}: ${content.message}` };
  const text = decodeText(content.bytes);
  return text === undefined
    ? { ok: false, message: `${path}: is not UTF-8 text` }
    : importText(path, text, format);
}

export function importText(name: string, text: string, wanted?: ImportFormat): ImportResult {
  const isXml = text.trimStart().startsWith("<");
  const language = isXml ? undefined : languageOf(name, text);
  const place = (at: ImportPosition | undefined) => `${name}${lineText(text, language, at)}: `;
  const parsed = parseText(text, language, wanted);
  if (!parsed.ok) return { ok: false, message: place(parsed.fault.at) + parsed.fault.message };
  const { claims, notes } = parsed;
  const shown = notes.slice(0, MAX_NOTES).map(({ at, message }) => place(at) + message);
  const more = notes.length - shown.length;
  return {
    ok: true,
    format: parsed.format,
    document: documentOf(claims),
    counts: {
      devices: claims.devices.length,
      ports: claims.ports.length,
      links: claims.links.length,
      hosts: claims.hosts.length,
    },
    notes: more > 0 ? [...shown, `${name}: and ${more} more of these`] : shown,
  };
}

type Parsed =
  | (Extract<ClaimsResult, { ok: true }> & { readonly format: ImportFormat })
  | Extract<ClaimsResult, { ok: false }>;

/** The formats that are JSON or YAML. */
type DocumentFormat = Exclude<ImportFormat, "graphml">;
const PARSERS: Readonly<Record<DocumentFormat, (document: unknown) => ClaimsResult>> = {
  netjson: (document) => fromGraph(parseNetJson(document)),
  rfc8345: parseRfc8345,
  containerlab: (document) => fromGraph(parseContainerlab(document)),
};

function parseText(text: string, language: Language | undefined, wanted: ImportFormat | undefined): Parsed {
  if (language === undefined || wanted === "graphml") {
    if (wanted !== undefined && wanted !== "graphml") return refuse(`is XML, and ${wanted} is not`);
    return withFormat("graphml", fromGraph(parseGraphml(text)));
  }
  const parsed = parse(text, language);
  if (!parsed.ok) return refuse(parsed.message, parsed.line);
  const format = wanted ?? detectFormat(parsed.value);
  return format === undefined
    ? refuse(unknownFormat(parsed.value))
    : withFormat(format, PARSERS[format](parsed.value));
}

const withFormat = (format: ImportFormat, result: ClaimsResult): Parsed =>
  result.ok ? { ...result, format } : result;

const refuse = (message: string, at?: ImportPosition) =>
  ({ ok: false, fault: { message, ...(at !== undefined && { at }) } }) as const;

const fromGraph = (result: GraphResult): ClaimsResult =>
  result.ok ? { ok: true, ...claimsOfGraph(result.graph) } : result;

/** Recognises a format by a key that every document of it has. */
function detectFormat(document: unknown): DocumentFormat | undefined {
  if (!isRecord(document)) return undefined;
  if (document.type === "NetworkGraph") return "netjson";
  if (isRfc8345(document)) return "rfc8345";
  if (isRecord(document.topology)) return "containerlab";
  return undefined;
}

function unknownFormat(document: unknown): string {
  if (isRecord(document) && KINDS.some((kind) => kind in document))
    return "is a network file already: use it as it is, with the source `file`";
  return `is in none of the formats that can be imported: ${IMPORT_FORMATS.join(", ")}; give --format if it is one`;
}

function lineText(text: string, language: Language | undefined, at: ImportPosition | undefined): string {
  if (at === undefined) return "";
  if (typeof at === "number") return `:${at}`;
  if (language === undefined) return "";
  if (text.length > MAX_SEARCHED_CHARS) return `: ${formatPath(at)}`;
  const [line] = linesOf(text, language, [at]);
  return line === undefined ? "" : `:${line}`;
}

// The document has the short form of the file source: ports are nested in their device, and two links that differ only in
// their direction are one record with `bidirectional: true`.

type PortRecord = Omit<ClaimTypes["ports"], "element">;
type DeviceRecord = ClaimTypes["devices"] & { readonly ports?: readonly PortRecord[] };
type LinkRecord = ClaimTypes["links"] & { readonly bidirectional?: true };

export interface NetworkDocument {
  readonly devices: readonly DeviceRecord[];
  /** Ports of devices that are not in the document. */
  readonly ports?: readonly ClaimTypes["ports"][];
  readonly links: readonly LinkRecord[];
  readonly hosts: readonly ClaimTypes["hosts"][];
}

function documentOf({ devices, ports, links, hosts }: ImportedClaims): NetworkDocument {
  const portsByDevice = new Map<string, PortRecord[]>(devices.map(({ id }) => [deviceKey(id), []]));
  const others: ClaimTypes["ports"][] = [];
  for (const claim of ports) {
    const { element, ...port } = claim;
    const listed = portsByDevice.get(deviceKey(element));
    if (listed) listed.push(port);
    else others.push(claim);
  }
  return {
    devices: devices.map((device) => {
      const listed = portsByDevice.get(deviceKey(device.id)) ?? [];
      return listed.length > 0 ? { ...device, ports: listed } : device;
    }),
    ...(others.length > 0 && { ports: others }),
    links: foldDirections(links),
    hosts,
  };
}

type LinkClaim = ClaimTypes["links"];
const keyOf = ({ src, dst }: Pick<LinkClaim, "src" | "dst">): string =>
  idKey("links", linkId({ ...src, port: String(src.port) }, { ...dst, port: String(dst.port) }));

function foldDirections(links: readonly LinkClaim[]): LinkRecord[] {
  const byKey = new Map(links.map((link) => [keyOf(link), link]));
  const folded = new Set<string>();
  return links.flatMap((link): LinkRecord[] => {
    if (folded.has(keyOf(link))) return [];
    const { src, dst, ...rest } = link;
    const reverse = byKey.get(keyOf({ src: dst, dst: src }));
    if (!reverse) return [link];
    const { src: _, dst: __, ...reverseRest } = reverse;
    if (!sameJson(rest, reverseRest)) return [link];
    folded.add(keyOf(reverse));
    return [{ ...link, bidirectional: true }];
  });
}
