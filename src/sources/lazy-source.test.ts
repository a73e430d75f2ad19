import { expect, test } from "bun:test";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { MemorySink } from "../../test/support/memory-sink.ts";
import { silentLogger } from "../lib/logger.ts";
import { loadedLater } from "./registry.ts";
import type { Source } from "./source.ts";

test("its code is loaded when it first runs, and one source runs", async () => {
  let loads = 0;
  let created = 0;
  const create = loadedLater(async () => {
    loads++;
    return ({ name }: { name: string }): Source => {
      created++;
      return {
        name,
        metrics: () => ({ runs_total: 1 }),
        run: (sink) => sink.replace({}),
      };
    };
  });
  const source = create({ name: "lab" }, { clock: new ManualClock(0), log: silentLogger });
  expect([source.name, source.metrics?.(), loads]).toEqual(["lab", {}, 0]);
  const sink = new MemorySink();
  await source.run(sink, AbortSignal.abort());
  await source.run(sink, AbortSignal.abort());
  expect(source.metrics?.()).toEqual({ runs_total: 1 });
  expect(await source.check?.()).toEqual({ faults: [] });
  expect(created).toBe(1);
});

test("the list of kinds loads none of the large ones", async () => {
  const script = `await import("${import.meta.dir}/registry.ts");
    const { plugins: _, ...loaded } = require.cache;
    console.log(JSON.stringify(Object.keys(loaded)));`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script]);
  const files: string[] = JSON.parse(stdout.toString());
  const large = files.filter((file) =>
    /\/(net-snmp|snmp\/snmp|openflow\/openflow|restconf\/restconf)\b/.test(file),
  );
  expect(files.some((file) => file.endsWith("/registry.ts"))).toBe(true);
  expect(large).toEqual([]);
});
