import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../lib/logger.ts";
import { openEmbeddedLog } from "../../log/embedded.ts";
import { goOnAlone } from "./go-on-alone.ts";

const folder = mkdtempSync(join(tmpdir(), "gazetteer-alone-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;

const SHARED = "# The users of the cluster as they were last known, version 3.\nana:hash\n";

/** Starts on the folder of a former node, with these users. The time of a file is in seconds. */
async function start(shared: string, own?: { readonly text: string; readonly time: number }, old?: string) {
  const data = join(folder, `${++folders}`);
  mkdirSync(data);
  await openEmbeddedLog(join(data, "cluster-x.sqlite")).close();
  const write = (name: string, text: string, time: number) => {
    writeFileSync(join(data, name), text);
    utimesSync(join(data, name), time, time);
  };
  write("cluster-x.users", shared, 1000);
  if (own) write("users", own.text, own.time);
  if (old !== undefined) write("users.old", old, 1);
  const lines: string[] = [];
  await goOnAlone(
    { data },
    createLogger((line) => lines.push(line)),
  );
  const read = (name: string) =>
    existsSync(join(data, name)) ? readFileSync(join(data, name), "utf8") : undefined;
  return {
    users: read("users"),
    old: read("users.old"),
    second: read("users.old.2"),
    lines: lines.join(""),
  };
}

test("the shared users become those of the folder, and its own ones are renamed", async () => {
  expect(await start(SHARED)).toMatchObject({ users: "ana:hash\n", old: undefined });
  const replaced = await start(SHARED, { text: "bob:hash\n", time: 999 });
  expect(replaced).toMatchObject({ users: "ana:hash\n", old: "bob:hash\n" });
  expect(replaced.lines).toContain("those of this node were renamed");
  expect(await start(SHARED, { text: "ana:hash\n", time: 999 })).toMatchObject({ old: undefined });
});

test("users that were renamed before are kept", async () => {
  const again = await start(SHARED, { text: "bob:hash\n", time: 999 }, "eve:hash\n");
  expect(again).toMatchObject({ users: "ana:hash\n", old: "eve:hash\n", second: "bob:hash\n" });
});

test("a users file that is newer than the shared users stays", async () => {
  const kept = await start(SHARED, { text: "bob:hash\n", time: 1001 });
  expect(kept).toMatchObject({ users: "bob:hash\n", old: undefined });
  expect(kept.lines).toContain("the users file is newer than the users of the cluster");
});

test("stored users that are sealed are not written as a users file", async () => {
  const kept = await start("\u0001sealed", { text: "bob:hash\n", time: 999 });
  expect(kept).toMatchObject({ users: "bob:hash\n", old: undefined });
  expect(kept.lines).toContain("are not a users file: this node goes on with its own users");
});
