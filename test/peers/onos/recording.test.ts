/**
 * ONOS 2.7's own REST application answers as test/onos/fixtures/recording.json says, so that the recording cannot become old.
 * UPDATE_RECORDING=1 writes the file.
 */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SHARED_MARK } from "../../../scripts/test/shared.ts";
import { type ComparedResponse, readAll } from "../../onos/requests.ts";
import { printSkip } from "../../support/needs.ts";
import { missingForOnos } from "./onos-install.ts";
import { startOnos } from "./onos-peer.ts";

const RECORDING = join(import.meta.dir, "../../onos/fixtures/recording.json");
const START_TIMEOUT_MS = 360_000;

const missing = missingForOnos();
if (missing) printSkip(`the recording is not compared with ONOS itself: ${missing}`);

/** One request a line, so that a change is easy to see. */
function record(responses: Readonly<Record<string, ComparedResponse>>): void {
  const lines = Object.entries(responses).map(
    ([name, response]) => `${JSON.stringify(name)}: ${JSON.stringify(response)}`,
  );
  writeFileSync(RECORDING, `{\n${lines.join(",\n")}\n}\n`);
}

describe(`ONOS itself ${SHARED_MARK}`, () => {
  test.skipIf(missing !== undefined)(
    "answers as recorded",
    async () => {
      await using onos = await startOnos();
      const responses = await readAll(onos.fetchPath);
      if (process.env.UPDATE_RECORDING === "1") record(responses);
      expect(JSON.parse(JSON.stringify(responses))).toEqual(await Bun.file(RECORDING).json());
    },
    START_TIMEOUT_MS,
  );
});
