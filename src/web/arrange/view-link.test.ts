/** A view survives the way through a link and through the printed section, with any text in it. */
import { expect, test } from "bun:test";
import { deflateRawSync } from "node:zlib";
import type { MapView } from "../../model/map-view.ts";
import { checkView } from "./arrangement.ts";
import { decodeViewLink, encodeViewLink, MAX_LINK, printView } from "./view-link.ts";

const VIEW: MapView = {
  name: `Räcks: "A" & <b> # \${HOME} 'x' \\ {y}`,
  state: "type=SWITCH&filter=name%3D%22a+b%22",
  arrangement: {
    pins: [{ device: "of:1 # x: y", x: 1.5, y: -2 }],
    groups: [
      { name: "Sites", annotation: "site" },
      { name: "- no: [list]", devices: ["a", "null", "1e3"] },
    ],
  },
};

test("a link carries a view", async () => {
  const link = await encodeViewLink(VIEW);
  if (!link.ok) throw new Error(link.message);
  expect(link.value).toMatch(/^#view=[\w-]+$/);
  expect(await decodeViewLink(link.value)).toEqual({ ok: true, value: VIEW });
});

test("a background and boxes at a place, as earlier versions stored them, are ignored", () => {
  const arrangement = {
    ...VIEW.arrangement,
    groups: [{ name: "Drawn", x: 0, y: 0, width: 5, height: 5 }, ...(VIEW.arrangement?.groups ?? [])],
    background: { coastline: true },
  };
  expect(checkView({ ...VIEW, arrangement })).toEqual({ ok: true, value: VIEW });
});

test("a view that is too large gives no link", async () => {
  const pins = Array.from({ length: 6000 }, (_, i) => ({ device: `device ${Math.sin(i)}`, x: i, y: i }));
  const link = await encodeViewLink({ ...VIEW, arrangement: { pins } });
  expect(link).toMatchObject({ ok: false, message: expect.stringContaining("at most 32 kB") });
});

const fragmentOf = (text: string): string => `#view=${deflateRawSync(text).toString("base64url")}`;

test.each([
  ["characters that are not base64", "#view=%%%"],
  ["bytes that are not compressed", "#view=AAAA"],
  ["text that is not JSON", fragmentOf("{")],
  ["more text than a view has", fragmentOf(`"${"x".repeat(4_000_000)}"`)],
  ["more than 32 kB", `#view=${"A".repeat(MAX_LINK)}`],
  ["another document", fragmentOf("[]")],
  ["an unknown key", fragmentOf('{"name":"x","state":"","script":"y"}')],
  ["a state that is no query", fragmentOf('{"name":"x","state":"javascript:<b>"}')],
  [
    "a place that is no number",
    fragmentOf('{"name":"x","state":"","arrangement":{"pins":[{"device":"a","x":1e999,"y":0}]}}'),
  ],
])("a link with %s is no view", async (_, fragment) => {
  expect((await decodeViewLink(fragment)).ok).toBe(false);
});

test("the printed section has the view", () => {
  const parsed: unknown = Bun.YAML.parse(printView(VIEW));
  expect(parsed).toEqual({ views: [VIEW] });
  expect(checkView(VIEW).ok).toBe(true);
});
