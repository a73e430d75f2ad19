/** The `exec` source: its peer is a shell script that prints a file, unless another file says how it misbehaves. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DOCUMENT_ROW, documentOf } from "./documents.ts";
import type { ContractRow, NetworkName } from "./row.ts";

const SCRIPT = `#!/bin/sh
cd "$FOLDER" || exit 1
echo "$$" >> started
case "$(cat mode 2>/dev/null)" in
  fail) echo 'cannot log in' >&2; exit 1;;
  huge) head -c 1000000 /dev/zero | tr '\\0' ' ';;
  endless) exec yes;;
  slow) trap '' TERM; sleep 1000 & wait; sleep 1000;;
  *) cat network.json;;
esac
echo >> reads
`;

export const row: ContractRow = {
  ...DOCUMENT_ROW,
  misbehaviours: ["huge", "endless", "slow"],
  async start(folder) {
    const file = (name: string) => join(folder, name);
    const show = async (network: NetworkName) => {
      await writeFile(file("network.new"), documentOf(network));
      await rename(file("network.new"), file("network.json"));
    };
    await writeFile(file("list-network"), SCRIPT);
    await chmod(file("list-network"), 0o755);
    await show("a");
    const countLines = (name: string) =>
      existsSync(file(name)) ? readFileSync(file(name), "utf8").split("\n").length - 1 : 0;
    return {
      entry: {
        type: "exec",
        command: [file("list-network")],
        environment: { FOLDER: folder },
        intervalSeconds: 1,
        timeoutSeconds: 1,
        maxOutputBytes: 500_000,
      },
      show,
      fail: () => writeFile(file("mode"), "fail"),
      misbehave: (how) => writeFile(file("mode"), how),
      mend: () => rm(file("mode")),
      reads: () => countLines("reads"),
      openCount: () => runningGroups(readFileSync(file("started"), "utf8").split("\n").filter(Boolean)),
      async [Symbol.asyncDispose]() {},
    };
  },
};

/** Processes, in the groups of these, that have not ended. */
function runningGroups(groups: readonly string[]): number {
  const wanted = new Set(groups);
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      // PID (NAME) STATE PPID PGRP …
      const [state = "", , group = ""] = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return wanted.has(group) && state !== "Z" && state !== "X";
    } catch {
      return false;
    }
  }).length;
}
