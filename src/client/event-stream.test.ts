import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../test/support/property.ts";
import { type EventRecord, EventStreamParser } from "./event-stream.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string) => new EventStreamParser().push(bytes(text));
const record = (data: string, event = "message", lastEventId = "", hasId = false): EventRecord => ({
  event,
  data,
  lastEventId,
  hasId,
});

describe("the HTML standard", () => {
  const cases: [name: string, text: string, records: EventRecord[]][] = [
    ["a record ends at an empty line", "data: a\n\ndata: b\n\n", [record("a"), record("b")]],
    ["LF and CRLF end a line", "data: b\n\ndata: c\r\n\r\n", ["b", "c"].map((d) => record(d))],
    ["one byte order mark at the start is dropped", "\ufeffdata: a\n\n", [record("a")]],
    ["a second one is part of the field name", "\ufeff\ufeffdata: a\n\n", []],
    ["lines of data are joined", "data: a\ndata\ndata: b\n\n", [record("a\n\nb")]],
    [
      "one space after the colon is not part of the value",
      "data:a\n\ndata:  a\n\n",
      [record("a"), record(" a")],
    ],
    ["data may be empty", "data\n\ndata:\n\n", [record(""), record("")]],
    ["a record without data is not returned", "event: x\n\nid: 1\n\n", []],
    ["but its id is kept", "id: 1\n\ndata: a\n\n", [record("a", "message", "1")]],
    [
      "an event name applies to one record",
      "event: x\ndata: a\n\ndata: b\n\n",
      [record("a", "x"), record("b")],
    ],
    [
      "an id applies to the following records",
      "id: 7\ndata: a\n\ndata: b\n\n",
      [record("a", "message", "7", true), record("b", "message", "7")],
    ],
    [
      "an empty id resets it",
      "id: 7\ndata: a\n\nid\ndata: b\n\n",
      [record("a", "message", "7", true), record("b", "message", "", true)],
    ],
    ["an id with NUL is ignored", "id: 7\n\nid: 8\0\ndata: a\n\n", [record("a", "message", "7")]],
    ["comments and unknown fields are skipped", ": hi\nfoo: bar\n data: x\ndata: a\n:\n\n", [record("a")]],
    ["an incomplete record is not returned", "data: a\n\ndata: b\n", [record("a")]],
    ["text is UTF-8", "data: \u{1f5fa}\n\n", [record("\u{1f5fa}")]],
  ];
  test.each(cases)("%s", (_, text, records) => {
    expect(parse(text)).toEqual(records);
  });

  test("a retry that is not digits is ignored", () => {
    const parser = new EventStreamParser();
    expect(parser.retryMs).toBeUndefined();
    parser.push(bytes("retry: 1500\nretry: soon\nretry: -1\nretry:\n"));
    expect(parser.retryMs).toBe(1500);
  });

  test("the id of an incomplete record is not the last event id", () => {
    const parser = new EventStreamParser();
    parser.push(bytes("id: 1\ndata: a\n\nid: 2\ndata: b\n"));
    expect(parser.lastEventId).toBe("1");
  });
});

test("a stream cut anywhere gives the same records", () => {
  const text = fc
    .string({ unit: "binary", maxLength: 12 })
    .map((s) => s.replace(/[\r\n\0]/g, "").toWellFormed());
  const lines = fc.array(
    fc.oneof(
      text.map((value) => `data: ${value}`),
      text.map((value) => `data:${value}`),
      text.map((value) => `event: ${value}`),
      text.map((value) => `id: ${value}`),
      text.map((value) => `: ${value}`),
      text,
      fc.constant(""),
    ),
  );
  const stream = fc
    .array(fc.tuple(lines, fc.constantFrom("\n", "\r\n")))
    .map((blocks) =>
      bytes(blocks.flatMap(([block, end]) => [...block, ""].map((line) => line + end)).join("")),
    );
  fc.assert(
    fc.property(stream, fc.array(fc.nat()), (whole, cuts) => {
      const wholeParser = new EventStreamParser();
      const chunkParser = new EventStreamParser();
      const bounds = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
      const records = bounds.slice(1).flatMap((end, i) => chunkParser.push(whole.subarray(bounds[i], end)));
      expect(records).toEqual(wholeParser.push(whole));
      expect(chunkParser.lastEventId).toBe(wholeParser.lastEventId);
    }),
    { numRuns: runs(200) },
  );
});

test("records that were written are read, byte by byte", () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  const records = fc.array(
    fc.record({
      event: name,
      data: fc.string({ unit: "binary" }),
      lastEventId: name,
      hasId: fc.constant(true),
    }),
  );
  const wellFormed = (data: string) => data.replace(/[\r\n]/g, "").toWellFormed();
  fc.assert(
    fc.property(records, (written) => {
      const expected = written.map((one) => ({ ...one, data: wellFormed(one.data) }));
      const text = expected
        .map((r) => `id: ${r.lastEventId}\nevent: ${r.event}\ndata: ${r.data}\n\n`)
        .join("");
      const parser = new EventStreamParser();
      const read = [...bytes(text)].flatMap((byte) => parser.push(Uint8Array.of(byte)));
      expect(read).toEqual(expected);
    }),
  );
});

describe("limits", () => {
  test("a line that exceeds the maximum throws, also in several chunks", () => {
    const parser = new EventStreamParser(1000);
    parser.push(bytes("x".repeat(999)));
    expect(() => parser.push(bytes("xx"))).toThrow("more than 1000 characters");
  });

  test("data lines that exceed the maximum together throw", () => {
    const parser = new EventStreamParser(1000);
    expect(() => {
      for (let i = 0; i < 1001; i++) parser.push(bytes("data\n"));
    }).toThrow("more than 1000 characters");
  });

  test("any number of comments and complete records is accepted", () => {
    const parser = new EventStreamParser(1000);
    for (let i = 0; i < 2000; i++) parser.push(bytes(": heartbeat\n\ndata: a\n\n"));
    expect(parser.push(bytes("data: b\n\n"))).toEqual([record("b")]);
  });
});
