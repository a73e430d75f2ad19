/** The `file` source: its peer is a file. A file does not misbehave, except that it can be too large. */
import { rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MAX_FILE_BYTES } from "../../../src/sources/file/network-file.ts";
import { DOCUMENT_ROW, documentOf } from "./documents.ts";
import type { ContractRow, NetworkName } from "./row.ts";

export const row: ContractRow = {
  ...DOCUMENT_ROW,
  misbehaviours: ["huge"],
  async start(folder) {
    const path = join(folder, "network.json");
    let shown: NetworkName = "a";
    let isBroken = false;
    const write = async () => {
      if (isBroken) return;
      await writeFile(`${path}.new`, documentOf(shown));
      await rename(`${path}.new`, path);
    };
    await write();
    return {
      entry: { type: "file", path },
      async show(network) {
        shown = network;
        await write();
      },
      async fail() {
        isBroken = true;
        await rm(path);
      },
      async misbehave() {
        isBroken = true;
        await truncate(path, MAX_FILE_BYTES + 1);
      },
      async mend() {
        isBroken = false;
        await write();
      },
      openCount: () => 0,
      async [Symbol.asyncDispose]() {},
    };
  },
};
