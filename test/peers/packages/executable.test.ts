/** The executable of `npm run build`, copied into an empty folder: it needs neither Node nor the checkout. */
import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { buildExecutable } from "../../../scripts/build.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import { checkPage, checkProgram, startInstalled } from "./check-program.ts";

test.skipIf(!needs("chromium"))("it reads, reloads, draws, and serves documentation and page", async () => {
  const folder = temporaryFolder();
  const program = join(folder, "gazetteer");
  if (process.env.TEST_EXECUTABLE === undefined) await buildExecutable(program);
  else copyFileSync(process.env.TEST_EXECUTABLE, program);
  const service = await startInstalled(join(folder, "empty"), {
    program: ["../gazetteer"],
    env: { PATH: "/nonexistent" },
    credentials: null,
  });
  // The command that it was started by is in what it tells people to type.
  expect(service.stdout()).toContain("To change it:  ../gazetteer passwd data/users reader\n");
  await service.stop();
  await using again = await startInstalled(join(folder, "again"), { program: ["../gazetteer"] });
  await checkProgram(again, join(folder, "again"));
  await checkPage(again);
  expect(await again.stop()).toBe(0);
});
