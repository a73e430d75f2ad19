/** What a node has applied of a stream, at every moment: a snapshot or a restart goes on from there. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { BatchAssembler } from "./batch-assembler.ts";
import { type EncodedMessage, encodeBatch, encodeTakeover, encodeTurn } from "./messages.ts";
import { firstPosition } from "./position.ts";

const identity = { id: "log", cursorKey: randomBytes(32), signingKey: randomBytes(32) };
const writer = { log: identity.id, key: identity.signingKey, node: "other" };
const entry = { kind: "devices" as const, id: "d", before: null, after: "{}", changed: [] };
const position = firstPosition("2026-01-01T00:00:00Z", "base");

const at = (sequence: number, { headers, data }: EncodedMessage) => ({ sequence, headers, data });

async function batch(revision: number, previous: string): Promise<EncodedMessage> {
  const [message] = await encodeBatch(
    { revision, time: 1, entries: [entry] },
    writer,
    `batch ${revision}`,
    previous,
    1 << 20,
  );
  if (!message) throw new Error("no message");
  return message;
}

test("while a batch is read, the state before it belongs to the place before it", async () => {
  const assembler = new BatchAssembler(identity, 0, position);
  const first = await batch(1, "base");
  const reading = assembler.accept(at(2, first));
  expect(assembler.appliedAt(0)).toMatchObject({ sequence: 1, links: [{ sequence: 1 }] });
  expect((await reading)?.type).toBe("batch");
  expect(assembler.appliedAt(0)).toMatchObject({ sequence: 1, links: [{ sequence: 1 }] });
  expect(assembler.appliedAt(1)).toMatchObject({ sequence: 2, links: [{ sequence: 1 }, { sequence: 2 }] });
  const takeover = encodeTakeover("a", writer, "takeover", first.signature);
  await assembler.accept(at(3, takeover));
  expect(assembler.appliedAt(1)).toMatchObject({ sequence: 3, holders: { a: "other" } });
  expect(assembler.appliedAt(0)).toMatchObject({ sequence: 1, holders: {} });
});

test("messages that mean nothing are compared with the stream too, and are covered by a snapshot", async () => {
  const assembler = new BatchAssembler(identity, 0, position);
  const turn = encodeTurn(writer, "turn", 1);
  await assembler.accept(at(2, turn));
  await assembler.accept({ sequence: 3, headers: undefined, data: randomBytes(10) });
  expect(assembler.applied.sequence).toBe(3);
  const [, ...ignored] = assembler.remembered;
  expect(ignored).toEqual([
    { sequence: 2, signature: turn.signature },
    { sequence: 3, signature: "" },
  ]);
  // Also after a restart.
  const again = new BatchAssembler(identity, 0, assembler.applied);
  expect(again.remembered).toEqual(assembler.remembered);
});

test("parts that wait for others are read again by whoever goes on from here", async () => {
  const assembler = new BatchAssembler(identity, 0, position);
  const parts = await encodeBatch({ revision: 1, time: 1, entries: [entry] }, writer, "parts", "base", 10);
  for (const [i, part] of parts.slice(0, -1).entries()) await assembler.accept(at(2 + i, part));
  expect(parts.length).toBeGreaterThan(2);
  expect(assembler.applied).toMatchObject({ revision: 0, sequence: 1 });
  // Their writer has given them up.
  const last = 1 + parts.length;
  await assembler.accept(at(last, encodeTurn(writer, "turn", 1)));
  expect(assembler.applied).toMatchObject({ revision: 0, sequence: last });
  expect(assembler.remembered.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: last }, (_, i) => i + 1).slice(-17),
  );
});

test("a batch that follows what is applied here with a later revision shows that this copy lacks some", async () => {
  const assembler = new BatchAssembler(identity, 0, position);
  const accepted = await assembler.accept(at(2, await batch(2, "base")));
  expect(accepted).toMatchObject({ type: "unusable", error: { condition: "gap" } });
});
