/**
 * A view as the fragment of an address: JSON, compressed, in the characters of base64url. A fragment is never sent to the
 * service. Anybody can make such a link, so its size is bounded before and after decompression, and its content is checked.
 */
import type { MapView } from "../../model/map-view.ts";
import { VIEW_FRAGMENT } from "../data/view-state.ts";
import { type Checked, checkView } from "./arrangement.ts";

/** Maximum length of the fragment in characters. Mail and chat programs break longer addresses. */
export const MAX_LINK = 32 * 1024;
/** Maximum size of the JSON in bytes. */
const MAX_JSON = 1024 * 1024;

export async function encodeViewLink(view: MapView): Promise<Checked<string>> {
  const stream = new Blob([JSON.stringify(view)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const fragment = VIEW_FRAGMENT + toBase64Url(new Uint8Array(await new Response(stream).arrayBuffer()));
  if (fragment.length <= MAX_LINK) return { ok: true, value: fragment };
  const size = Math.ceil(fragment.length / 1024);
  return {
    ok: false,
    message: `The link would have ${size} kB, and at most ${MAX_LINK / 1024} kB are possible. Unpin some devices, or put the view into the configuration.`,
  };
}

export async function decodeViewLink(fragment: string): Promise<Checked<MapView>> {
  if (fragment.length > MAX_LINK) return { ok: false, message: `it has more than ${MAX_LINK / 1024} kB` };
  const json = await inflate(fragment.slice(VIEW_FRAGMENT.length));
  if (json === undefined) return { ok: false, message: "it is damaged" };
  return checkView(json);
}

/** The decompressed JSON. Undefined if the text is not compressed JSON or the JSON is larger than `MAX_JSON`. */
async function inflate(text: string): Promise<unknown> {
  try {
    const stream = new Blob([fromBase64Url(text)])
      .stream()
      .pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.getReader();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let json = "";
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_JSON) {
        void reader.cancel();
        return undefined;
      }
      json += decoder.decode(value, { stream: true });
    }
    return JSON.parse(json + decoder.decode());
  } catch {
    return undefined;
  }
}

function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const fromBase64Url = (text: string) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );

/** Prints a view as the section `views` of the configuration. Values are JSON, which is valid YAML, so all quotes are right. */
export function printView({ name, state, arrangement = {} }: MapView): string {
  const lines = ["views:", `  - name: ${JSON.stringify(name)}`, `    state: ${JSON.stringify(state)}`];
  const { pins = [], groups = [] } = arrangement;
  if (pins.length + groups.length > 0) lines.push("    arrangement:");
  const list = (key: string, items: readonly object[]) => {
    if (items.length === 0) return;
    lines.push(`      ${key}:`, ...items.map((item) => `        - ${flow(item)}`));
  };
  list("pins", pins);
  list("groups", groups);
  return `${lines.join("\n")}\n`;
}

function flow(value: object): string {
  const fields = Object.entries(value).map(([key, field]) => `${key}: ${JSON.stringify(field)}`);
  return `{ ${fields.join(", ")} }`;
}
