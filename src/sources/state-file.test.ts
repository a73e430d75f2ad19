import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { temporaryFolder } from "../../test/support/folder.ts";
import { createLogger } from "../lib/logger.ts";
import { removeStateFile, StateFile } from "./state-file.ts";

const isState = Compile(Type.Object({ count: Type.Integer() }));

function open(stateDir: string | undefined) {
  const warnings: string[] = [];
  const context = { stateDir, log: createLogger((line) => void warnings.push(line)) };
  return { file: new StateFile("core", isState, context), warnings, context };
}

test("what was written is read; only the user of the service may read it", async () => {
  const stateDir = join(temporaryFolder(), "sources");
  const { file, warnings, context } = open(stateDir);
  expect(await file.read()).toBeUndefined();
  await file.write({ count: 1 });
  await file.write({ count: 2 });
  expect(await file.read()).toEqual({ count: 2 });
  expect(statSync(stateDir).mode & 0o777).toBe(0o700);
  expect(statSync(join(stateDir, "core.json")).mode & 0o777).toBe(0o600);
  await removeStateFile("core", context);
  await removeStateFile("core", context);
  expect(readdirSync(stateDir)).toEqual([]);
  expect(warnings).toEqual([]);
});

test("without a folder nothing is read, written or removed", async () => {
  const { file, warnings, context } = open(undefined);
  await file.write({ count: 1 });
  expect(await file.read()).toBeUndefined();
  await removeStateFile("core", context);
  expect(warnings).toEqual([]);
});

for (const [name, damage] of [
  ["no JSON", (path: string) => writeFileSync(path, '{"count":')],
  ["a file of something else", (path: string) => writeFileSync(path, '{"name":"x"}')],
  ["a folder", (path: string) => void mkdirSync(path)],
  [
    "too large",
    (path: string) => {
      writeFileSync(path, "");
      truncateSync(path, 33 * 1024 * 1024);
    },
  ],
] as const) {
  test(`${name}: ignored with one warning`, async () => {
    const stateDir = temporaryFolder();
    damage(join(stateDir, "core.json"));
    const { file, warnings } = open(stateDir);
    expect(await file.read()).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("state file ignored source=core")]);
  });
}

test("a file that cannot be written is no failure, and one warning until it can", async () => {
  const stateDir = join(temporaryFolder(), "sources");
  writeFileSync(stateDir, "");
  const { file, warnings } = open(stateDir);
  await file.write({ count: 1 });
  await file.write({ count: 2 });
  expect(warnings).toEqual([expect.stringContaining("state file cannot be written source=core")]);
});
