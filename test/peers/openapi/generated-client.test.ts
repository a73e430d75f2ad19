/**
 * A TypeScript client generated from openapi.json, compiled with `tsc --strict` of TypeScript 5 and run on Node against a
 * running service.
 */
import { expect, test } from "bun:test";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { basic, startService } from "../../support/service.ts";
import { installTools, MODULES, OPENAPI_JSON, runTool } from "./tools.ts";

const here = installTools();

test.skipIf(!here)("a generated client reads the four paths without a guard", async () => {
  const folder = temporaryFolder();
  cpSync(join(import.meta.dir, "client"), folder, { recursive: true });
  symlinkSync(MODULES, join(folder, "node_modules"));
  await Bun.write(join(folder, "package.json"), '{ "type": "module" }');
  const passed = { status: 0 };
  const generate = ["--output", join(folder, "schema.d.ts"), "--alphabetize", OPENAPI_JSON];
  expect(await runTool("openapi-typescript", generate)).toMatchObject(passed);
  expect(await runTool("tsc", ["--project", folder], folder)).toMatchObject({ ...passed, stdout: "" });

  await using service = await startService({ args: ["--demo", "--data", ":memory:"] });
  const program =
    'import { readAll } from "./read-all.js"; console.log(JSON.stringify(await readAll(process.argv[1], process.argv[2])))';
  const args = ["--input-type=module", "--eval", program, service.url, basic(service.credentials)];
  const result = await runTool("node", args, folder);
  expect(result).toMatchObject({ ...passed, stderr: "" });
  const read: Readonly<Record<string, unknown>> = JSON.parse(result.stdout);
  expect(Number(read.devices)).toBeGreaterThan(0);
  expect(read).toMatchObject({ types: read.devices, page: 2, isItem: true, counts: expect.any(Array) });
  for (const key of ["links", "hosts", "ports", "paths", "linkIds", "changes", "events", "revision", "time"])
    expect([key, Number(read[key]) > 0]).toEqual([key, true]);
});
