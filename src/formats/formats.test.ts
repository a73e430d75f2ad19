import { expect, test } from "bun:test";
import { FORMATS, type Format, formatsOf, RESOURCES } from "./formats.ts";

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
  const all: readonly Format[] = FORMATS;
  for (const { mediaType, contentType } of all) {
    expect(contentType.split(";")[0]).toBe(mediaType);
    if (mediaType.startsWith("text/") && mediaType !== "text/event-stream") {
      expect(contentType).toContain("charset=utf-8");
    }
  }
});
