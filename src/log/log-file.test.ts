import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutPauses } from "../lib/steps.ts";
import { openEmbeddedLog } from "./embedded.ts";
import { type Batch, LogError } from "./log.ts";

const folder = mkdtempSync(join(tmpdir(), "gazetteer-log-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);
const batchOf = (revision: number): Batch => ({
  revision,
  time: revision,
  entries: [{ kind: "devices", id: "of:1", before: null, after: "{}", changed: [] }],
});

function errorOf(open: () => unknown): LogError {
  try {
    open();
  } catch (error) {
    if (error instanceof LogError) return error;
    throw error;
  }
  throw new Error("expected a LogError");
}

describe("opening", () => {
  test("a file that another process has open is rejected", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    await log.append(batchOf(1));
    const code = `
      const { openEmbeddedLog } = await import(${JSON.stringify(join(import.meta.dir, "embedded.ts"))});
      try { openEmbeddedLog(${JSON.stringify(path)}); } catch (error) { console.log(error.name, error.code, error.message); }`;
    const other = Bun.spawnSync([process.execPath, "-e", code]);
    expect(other.stdout.toString()).toBe(
      `LogError in-use ${path} is in use by another process; stop that one or give another --data\n`,
    );
    expect(errorOf(() => openEmbeddedLog(path)).code).toBe("in-use");
    await log.append(batchOf(2));
    await log.close();
    const again = openEmbeddedLog(path);
    expect(again.stats().newest).toBe(2);
    await again.close();
  });

  test("a path that is a folder, or a file that is not a log, is unreadable", async () => {
    const asFolder = newPath();
    mkdirSync(asFolder);
    expect(errorOf(() => openEmbeddedLog(asFolder))).toMatchObject({ code: "unreadable" });
    const inFile = newPath();
    writeFileSync(inFile, "not a folder");
    expect(errorOf(() => openEmbeddedLog(join(inFile, "log.db")))).toMatchObject({ code: "unreadable" });
    const notALog = newPath();
    writeFileSync(notALog, "no log at all, but long enough to have a header ".repeat(100));
    const error = errorOf(() => openEmbeddedLog(notALog));
    expect(error.code).toBe("unreadable");
    expect(error.message).toStartWith(`cannot open the log ${notALog}: `);
  });

  test("a file whose structure is damaged is unreadable, and not in use afterwards", async () => {
    const path = newPath();
    const log = openEmbeddedLog(path);
    for (let revision = 1; revision <= 300; revision++) await log.append(batchOf(revision));
    await log.close();
    const bytes = readFileSync(path);
    // The header of each page after the schema's tells how its cells are stored.
    for (let at = 2 * 4096; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 100);
    writeFileSync(path, bytes);
    for (let round = 0; round < 2; round++) {
      const error = errorOf(() => openEmbeddedLog(path));
      expect(error.code).toBe("unreadable");
      expect(error.message).toContain("move the file away");
    }
  });

  test.each(["1", "2", "4"])("a log of format %s is refused, with how to begin anew", async (format) => {
    const path = newPath();
    await openEmbeddedLog(path).close();
    const db = new Database(path);
    db.query("UPDATE meta SET value = ? WHERE name = 'format'").run(Buffer.from(format));
    db.close();
    const { code, message } = errorOf(() => openEmbeddedLog(path));
    expect(code).toBe("other-format");
    expect(message).toBe(
      `${path} has format ${format} of another version, and this one reads format 3; ` +
        "move it and every cluster-*.sqlite beside it away to begin with an empty log, or give another folder with --data",
    );
    rmSync(path);
    await openEmbeddedLog(path).close();
  });

  test("two logs have different ids and signing keys", async () => {
    const [a, b] = [openEmbeddedLog(":memory:"), openEmbeddedLog(":memory:")];
    expect(a.id).not.toBe(b.id);
    expect(a.signingKey).not.toEqual(b.signingKey);
    expect(a.signingKey.length).toBe(32);
    await a.close();
    await b.close();
  });
});

test("kill -9 loses no batch whose append returned", async () => {
  const path = newPath();
  const code = `
    const { openEmbeddedLog } = await import(${JSON.stringify(join(import.meta.dir, "embedded.ts"))});
    const { writeSync } = await import("node:fs");
    const log = openEmbeddedLog(${JSON.stringify(path)});
    for (let revision = log.stats().newest + 1; ; revision++) {
      const entries = Array.from({ length: 1 + (revision % 7) * 1000 }, (_, i) =>
        ({ kind: "hosts", id: "h" + i, before: null, after: JSON.stringify({ revision, i }), changed: [] }));
      await log.append({ revision, time: revision, entries });
      writeSync(1, revision + "\\n");
    }`;
  let acknowledged = 0;
  for (let round = 1; round <= 4; round++) {
    const killAt = acknowledged + round * 5;
    const child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "inherit" });
    let output = "";
    for await (const chunk of child.stdout) {
      output += Buffer.from(chunk).toString();
      const last = output.split("\n").at(-2);
      if (last !== undefined) acknowledged = Number(last);
      if (acknowledged >= killAt) child.kill("SIGKILL");
    }
    await child.exited;
    expect(acknowledged).toBeGreaterThanOrEqual(killAt);
    const log = openEmbeddedLog(path);
    const batches = [...withoutPauses(log.read(0))];
    expect(log.stats().newest).toBeGreaterThanOrEqual(acknowledged);
    expect(batches.map(({ revision }) => revision)).toEqual(batches.map((_, i) => i + 1));
    expect(batches.length).toBe(log.stats().newest);
    for (const { revision, entries } of batches) expect(entries.length).toBe(1 + (revision % 7) * 1000);
    await log.close();
  }
}, 180_000);
