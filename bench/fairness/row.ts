/** One row: the latency of the reader while one attack runs, each in a process of its own. */
import { join } from "node:path";
import { startAnywhere } from "../lib/process.ts";
import type { ReaderReport } from "./reader-process.ts";
import type { ServiceUnderAttack } from "./service.ts";

const WARM_UP_MS = 1500;
export const SETTLE_MS = 15_000;
/** The reader must not wait for a processor, or it measures that; only root may say so. */
const PREFERRED = process.getuid?.() === 0 ? ["nice", "-n", "-10"] : [];

export interface Measured extends ReaderReport {
  readonly peakMiB: number;
  /** What the attack itself has to report. */
  readonly remark: string;
}

export async function measureRow(
  { target, readerAuthorization, peakBytes, settles }: ServiceUnderAttack,
  name: string,
  seconds: number,
): Promise<Measured> {
  const script = (file: string) => join(import.meta.dir, file);
  await settles(SETTLE_MS);
  const readerOptions = { url: `${target.url}/controller/v1/topology`, authorization: readerAuthorization };
  const reader = startAnywhere([
    ...PREFERRED,
    process.execPath,
    script("reader-process.ts"),
    JSON.stringify(readerOptions),
  ]);
  // The attacker may not take processor time from the reader, whose measurement would be wrong.
  const attack = startAnywhere([
    "nice",
    "-n",
    "10",
    process.execPath,
    script("attack-process.ts"),
    name,
    JSON.stringify(target),
  ]);
  try {
    await reader.line(/^started$/);
    await Bun.sleep(WARM_UP_MS);
    peakBytes();
    reader.send("measure\n");
    await attack.line(/^started$/);
    await Bun.sleep(seconds * 1000);
    reader.send("report\n");
    const [, json = ""] = await reader.line(/^report (.*)$/);
    const peakMiB = peakBytes() / 1024 ** 2;
    attack.send("stop\n");
    const [, remark = ""] = await attack.line(/^stopped (.*)$/);
    const report: ReaderReport = JSON.parse(json);
    return { ...report, peakMiB, remark };
  } finally {
    await reader.stop();
    await attack.stop();
  }
}
