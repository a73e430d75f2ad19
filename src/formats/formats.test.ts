import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FORMATS, formatsOf, RESOURCES } from "./formats.ts";

const DOCS = readFileSync(join(import.meta.dir, "../../docs/formats.md"), "utf8");

test("each resource has its formats, JSON first", () => {
  const names = Object.fromEntries(RESOURCES.map((r) => [r, formatsOf(r).map((format) => format.name)]));
  expect(names).toEqual({
    devices: ["json", "ndjson", "csv", "events", "prometheus"],
    ports: ["json", "ndjson", "csv"],
    links: ["json", "ndjson", "csv", "events"],
    hosts: ["json", "ndjson", "csv", "events", "prometheus"],
    topology: ["json", "events", "netjson", "rfc8345", "graphml", "dot", "svg"],
  });
});

test("on one resource a media type means one format", () => {
  for (const resource of RESOURCES) {
    const types = formatsOf(resource).filter((f) => f.negotiable);
    expect(new Set(types.map((f) => f.mediaType)).size).toBe(types.length);
  }
});

test("the content type is the media type, with a character set where the default is not UTF-8", () => {
  for (const { mediaType, contentType } of FORMATS) {
    expect(contentType.split(";")[0]).toBe(mediaType);
    if (mediaType.startsWith("text/") && mediaType !== "text/event-stream") {
      expect(contentType).toContain("charset=utf-8");
    }
  }
});

test("every format but json and events has a renderer for each of its resources", () => {
  for (const { name, resources, renderList, renderTopology } of FORMATS) {
    if (name === "json" || name === "events") continue;
    for (const resource of resources) {
      expect([name, resource, (resource === "topology" ? renderTopology : renderList) !== undefined]).toEqual(
        [name, resource, true],
      );
    }
  }
});

test("the table in docs/formats.md has the rows of the table of formats", () => {
  const documented = [...DOCS.matchAll(/^\| `(\w+)` \| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \|/gm)].map(
    ([, name, mediaType, resources, description]) => ({ name, mediaType, resources, description }),
  );
  const expected = FORMATS.map(({ name, mediaType, resources, description }) => ({
    name,
    mediaType,
    resources: resources.join(", "),
    description,
  }));
  expect(documented).toEqual(expected);
});
