import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/folder.ts";
import { readEnvironment } from "./exec.ts";

afterEach(() => {
  delete process.env.EXEC_TEST_LINES;
});

const LINES = "# for the inventory\nTOKEN=a=b \r\n\nEMPTY=\n";
const VARIABLES = { TOKEN: "a=b ", EMPTY: "" };

test("variables are given as they are, or as lines in a file or a variable", async () => {
  const file = join(temporaryFolder(), "environment");
  writeFileSync(file, LINES);
  process.env.EXEC_TEST_LINES = LINES;
  expect(await readEnvironment({})).toEqual({ ok: true, variables: {} });
  expect(await readEnvironment({ environment: VARIABLES })).toEqual({ ok: true, variables: VARIABLES });
  expect(await readEnvironment({ environmentFile: file })).toEqual({ ok: true, variables: VARIABLES });
  expect(await readEnvironment({ environmentEnv: "EXEC_TEST_LINES" })).toEqual({
    ok: true,
    variables: VARIABLES,
  });
});

test("a fault names the option and the line, and none of the text", async () => {
  process.env.EXEC_TEST_LINES = "TOKEN=hidden\nsecret word";
  expect(await readEnvironment({ environmentEnv: "EXEC_TEST_LINES" })).toEqual({
    ok: false,
    message: "environmentEnv: line 2 is not NAME=VALUE",
  });
  expect(await readEnvironment({ environmentFile: "/nowhere/environment" })).toEqual({
    ok: false,
    message: "environmentFile: environment cannot be read (ENOENT)",
  });
});
