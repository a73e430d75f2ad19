/** A disk on which every write takes half a second or longer: changes become visible late, and readers do not wait. */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHarness } from "../api/harness.ts";
import { snapshotNow } from "../support/claims.ts";
import { temporaryFolder } from "../support/folder.ts";

const SLOW_WRITER = new URL("../support/slow-writer.ts", import.meta.url);

test("while a batch, a snapshot or pruning waits for the disk, readers get answers", async () => {
  const folder = temporaryFolder();
  // Writes end no earlier than this file: the answers of readers arrive first, however slow the machine is.
  const hold = join(folder, "hold");
  process.env.SLOW_WRITER_HOLD = hold;
  await using h = await openHarness({ data: join(folder, "log.sqlite"), logWriter: SLOW_WRITER });
  await h.replace({ devices: [{ id: "of:1" }] });
  const writes = {
    batch: () => h.apply([{ op: "set", kind: "devices", claim: { id: "of:2" } }]),
    snapshot: () => h.log.writeSnapshot(snapshotNow(h.view)),
    pruning: () => h.log.prune(Number.MAX_SAFE_INTEGER, 0),
  };
  for (const [what, write] of Object.entries(writes)) {
    const before = h.view.revision;
    let written = false;
    writeFileSync(hold, "");
    const writing = write().then(() => {
      written = true;
    });
    for (let i = 0; i < 20; i++) {
      const response = await h.fetch(i % 2 === 0 ? "topology" : `devices?at=${before}`);
      expect([what, response.status, written]).toEqual([what, 200, false]);
      expect(response.headers.get("Gazetteer-Revision")).toBe(String(before));
    }
    rmSync(hold);
    await writing;
  }
  expect((await h.fetch("topology")).headers.get("Gazetteer-Revision")).toBe("2");
});
