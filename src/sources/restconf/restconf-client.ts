/**
 * The requests of RESTCONF (RFC 8040) that the source needs: the root, data, and OpenDaylight's subscription to changes.
 * A response is classified by its meaning for the source: data, no data, a module that the server does not have, or a
 * failure. For missing data OpenDaylight responds 409 instead of the 404 of RFC 8040. While it starts, it responds 404
 * without a RESTCONF error to every request, which must not be read as "no data".
 */
import { isRecord } from "../../lib/is-record.ts";
import type { Upstream, UpstreamStream } from "../upstream/upstream.ts";
import { leafText, listEntries, type YangObject } from "./yang-json.ts";

const YANG_JSON = "application/yang-data+json";
const MAX_SMALL_BYTES = 64 * 1024;

export interface RestconfFailure {
  readonly ok: false;
  readonly message: string;
}

type DataResult =
  | { readonly ok: true; readonly has: "data"; readonly document: YangObject }
  | { readonly ok: true; readonly has: "no-data" | "no-module" }
  | RestconfFailure;

/** `offered` is false when the server has no such stream, and true when the request failed for another reason. */
type StreamResult = Extract<UpstreamStream, { ok: true }> | (RestconfFailure & { readonly offered: boolean });

export class RestconfClient {
  readonly #upstream: Upstream;
  /** The discovered root; undefined until it is found and after a failure, because another server may answer then. */
  #root: URL | undefined;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** The configured address, for messages. */
  get address(): string {
    const { host, pathname } = this.#upstream.url;
    return `${host}${pathname}`;
  }

  /** Reads data. `path` is relative to `/data` and may have a query. */
  async readData(path: string, signal: AbortSignal): Promise<DataResult> {
    const root = await this.#findRoot(signal);
    if (!(root instanceof URL)) return root;
    const response = await this.#upstream.get(under(root, `data/${path}`), { accept: YANG_JSON, signal });
    if (response.ok && response.status === 204) return { ok: true, has: "no-data" };
    if (response.ok) {
      const document = parseObject(response.body);
      if (document) return { ok: true, has: "data", document };
      return this.#failed(`${this.#upstream.url.host}: the response to ${path} is not a JSON object`);
    }
    const meaning = response.code === "status" ? meaningOf(response.status, response.errorBody) : undefined;
    return meaning === undefined ? this.#failed(response.message) : { ok: true, has: meaning };
  }

  /** Opens OpenDaylight's stream of changes below a path. Its events have no ids, so missed events are never sent again. */
  async openChanges(path: string, signal: AbortSignal): Promise<StreamResult> {
    const root = await this.#findRoot(signal);
    if (!(root instanceof URL)) return { ...root, offered: true };
    const input = {
      path,
      "sal-remote-augment:datastore": "OPERATIONAL",
      "sal-remote-augment:scope": "SUBTREE",
    };
    const operation = "operations/sal-remote:create-data-change-event-subscription";
    const created = await this.#upstream.get(under(root, operation), {
      method: "POST",
      headers: { "content-type": YANG_JSON },
      accept: YANG_JSON,
      body: JSON.stringify({ input }),
      maxBytes: MAX_SMALL_BYTES,
      signal,
    });
    if (!created.ok) return { ok: false, message: created.message, offered: created.code !== "status" };
    const output = parseObject(created.body)?.["sal-remote:output"];
    const name = isRecord(output) ? leafText(output, "stream-name") : undefined;
    if (name === undefined) return { ok: false, message: "the subscription has no stream", offered: false };
    const streamPath = `streams/json/${encodeURIComponent(name).replaceAll("%3A", ":")}`;
    const stream = await this.#upstream.stream(under(root, `${streamPath}?changed-leaf-nodes-only=true`), {
      accept: "text/event-stream",
      signal,
    });
    return stream.ok ? stream : { ok: false, message: stream.message, offered: stream.code !== "status" };
  }

  #failed(message: string): RestconfFailure {
    this.#root = undefined;
    return { ok: false, message };
  }

  /** Returns the configured URL, or the root that the server announces when the configured URL has no path. */
  async #findRoot(signal: AbortSignal): Promise<URL | RestconfFailure> {
    const { url } = this.#upstream;
    if (url.pathname !== "/") return url;
    if (this.#root) return this.#root;
    const accept = "application/xrd+xml, application/xrd+json;q=0.9, application/json;q=0.8";
    const target = new URL(HOST_META_PATH, url);
    const response = await this.#upstream.get(target, { accept, maxBytes: MAX_SMALL_BYTES, signal });
    if (!response.ok) return { ok: false, message: response.message };
    const href = parseHostMeta(new TextDecoder().decode(response.body));
    if (href === undefined) return this.#failed(`${url.host}${HOST_META_PATH}: has no link to RESTCONF`);
    const root = URL.parse(href, url);
    // The credentials are for the configured server only.
    if (root?.origin !== url.origin)
      return this.#failed(`${url.host}${HOST_META_PATH}: leads to another server`);
    this.#root = root;
    return root;
  }
}

const under = (root: URL, path: string): URL =>
  new URL(`${root.origin}${root.pathname.replace(/\/+$/, "")}/${path}`);

function parseObject(body: Uint8Array): YangObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const UNKNOWN_MODULE = ["unknown-element", "unknown-namespace", "unknown-attribute", "bad-element"];

/** Returns the meaning of an error response; undefined when it is a failure. */
function meaningOf(
  status: number | undefined,
  body: Uint8Array | undefined,
): "no-data" | "no-module" | undefined {
  const document = body === undefined ? undefined : parseObject(body);
  const errors = document?.["ietf-restconf:errors"] ?? document?.errors;
  const [error] = isRecord(errors) ? listEntries(errors, "error", "devices", () => {}) : [];
  const tag = error === undefined ? undefined : leafText(error, "error-tag");
  if (tag === "data-missing") return "no-data";
  if (tag !== undefined && UNKNOWN_MODULE.includes(tag)) return "no-module";
  if (status !== 404) return undefined;
  // RFC 8040 uses `invalid-value` for data that does not exist. Without a RESTCONF error, the server does not serve the path.
  return tag === undefined ? "no-module" : "no-data";
}

/**
 * The path of the document with the root of a RESTCONF server (RFC 8040 section 3.1): a link with `rel="restconf"` in XRD,
 * as XML or as JSON (RFC 6415). The document is small and its nesting is irrelevant, so its tags are found by patterns
 * instead of an XML parser.
 */
const HOST_META_PATH = "/.well-known/host-meta";

const COMMENTS = /<!--[\s\S]*?-->/g;
const LINK_TAGS = /<(?:[\w.-]+:)?Link\s([^<>]*)>/g;
const ATTRIBUTES = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
};

/** Returns the `href` of the link, or undefined when there is none. */
export function parseHostMeta(text: string): string | undefined {
  const links = text.trimStart().startsWith("{") ? jsonLinks(text) : xmlLinks(text);
  return links.find(({ rel, href }) => rel === "restconf" && typeof href === "string")?.href;
}

interface Link {
  readonly rel?: string;
  readonly href?: string;
}

function xmlLinks(text: string): Link[] {
  return [...text.replaceAll(COMMENTS, "").matchAll(LINK_TAGS)].map(([, attributes = ""]) =>
    Object.fromEntries(
      [...attributes.matchAll(ATTRIBUTES)].map(([, name, double, single]) => [
        name,
        (double ?? single ?? "").replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity),
      ]),
    ),
  );
}

function jsonLinks(text: string): Link[] {
  try {
    const document: { links?: unknown } | null = JSON.parse(text);
    const links: unknown = document?.links;
    return Array.isArray(links) ? links.filter((link) => typeof link === "object" && link !== null) : [];
  } catch {
    return [];
  }
}
