/** What a service writes into its data folder, on real files. */
import { expect, test } from "bun:test";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { startService } from "../support/service.ts";

test("everything in the data folder is readable for its owner only, also files of an earlier version", async () => {
  const data = join(temporaryFolder(), "data");
  const modes = () =>
    Object.fromEntries(readdirSync(data).map((name) => [name, statSync(join(data, name)).mode & 0o777]));
  const umask = process.umask(0);
  try {
    for (const round of ["new", "again"]) {
      const service = await startService({
        args: ["--data", data, "--demo", "devices=4"],
        credentials: null,
      });
      const found = modes();
      expect([round, Object.keys(found).sort()]).toEqual([
        round,
        ["first-password", "log.sqlite", "log.sqlite-lock", "log.sqlite-shm", "log.sqlite-wal", "users"],
      ]);
      expect([...new Set(Object.values(found))]).toEqual([0o600]);
      expect(statSync(data).mode & 0o777).toBe(0o700);
      await service.kill();
      for (const name of Object.keys(found)) if (name.startsWith("log")) chmodSync(join(data, name), 0o644);
    }
  } finally {
    process.umask(umask);
  }
});
