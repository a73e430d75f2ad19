/** The code printed in docs/adding-a-source.md compiles in a copy of the service. */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyWithExample, files, root } from "../../sources/contract/adding-a-source.ts";

test("compiles with the strict settings of this project", async () => {
  // Its files and what they import: the check of all types has the rest.
  const copy = copyWithExample();
  const project = join(copy, "tsconfig.page.json");
  writeFileSync(
    project,
    JSON.stringify({ extends: "./tsconfig.json", include: [], files: [...files.keys()] }),
  );
  const child = Bun.spawn([join(root, "node_modules/.bin/tsc"), "--noEmit", "-p", project], {
    stdout: "pipe",
  });
  const output = await new Response(child.stdout).text();
  rmSync(copy, { recursive: true, force: true });
  expect({ status: await child.exited, output }).toEqual({ status: 0, output: "" });
});
