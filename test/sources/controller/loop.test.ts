import { expect, test } from "bun:test";
import { cpSync, writeFileSync } from "node:fs";
import type { Service } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { createNode, type Node, reads, statusOf } from "./gazetteers.ts";

/** One device of the node's own. */
const own = ({ name, dataDir }: Node) => {
  const path = `${dataDir}.network.json`;
  writeFileSync(path, JSON.stringify({ devices: [{ id: `x:${name}` }] }));
  return { type: "file", name: "own", path };
};

const refused = (service: Service, source: string) =>
  until(
    async () => {
      const status = await statusOf(service, source);
      return status?.error?.startsWith("refused") ? status : undefined;
    },
    { what: `${source} to be refused`, deadlineMs: 60_000 },
  );

const synced = (service: Service, source: string) =>
  until(async () => (await statusOf(service, source))?.status === "synced", {
    what: `${source} to sync`,
    deadlineMs: 60_000,
  });

const devicesOf = async (service: Service): Promise<string[]> => {
  const { devices }: { devices: { id: string; sources: string[] }[] } = JSON.parse(
    await (await service.fetch("/controller/v1/devices")).text(),
  );
  return devices.map(({ id, sources }) => `${id} from ${sources.join()}`);
};

const reload = (node: Node, service: Service, sources: readonly object[]) => {
  node.configure(sources);
  process.kill(service.pid, "SIGHUP");
};

test("two services that read from each other, whichever is first; it ends with the loop", async () => {
  const [a, b] = [createNode("a"), createNode("b")];
  const first = await a.start([own(a), reads(b)]);
  const second = await b.start([own(b), reads(a)]);
  const error = (await refused(second, "from-a")).error ?? "";
  expect(error).toContain("a loop");
  expect(error).toContain(`127.0.0.1:${a.port}`);
  expect(error).toContain('"from-b"');
  expect((await refused(first, "from-b")).error).toContain('"from-a"');
  // One of them may have read from the other before the loop was complete, but nothing came back to where it is from.
  expect(await devicesOf(first)).toContain("x:a from own");
  expect(await devicesOf(second)).toContain("x:b from own");
  // After a restart both are refused again. Until a has looked at b, b may have read from it: each looks once an interval.
  await first.kill();
  const again = await a.start();
  await refused(again, "from-b");
  await refused(second, "from-a");
  // The loop ends: b no longer reads from a.
  reload(b, second, [own(b)]);
  await synced(again, "from-b");
  await until(async () => (await devicesOf(again)).join() === "x:a from own,x:b from from-b", {
    what: "b's device",
  });
}, 180_000);

test("a loop over a third service, which arises while all run", async () => {
  const [a, b, c] = [createNode("a"), createNode("b"), createNode("c")];
  const third = await c.start([own(c)]);
  const second = await b.start([own(b), reads(c)]);
  // Over the alias it is the same service.
  const first = await a.start([own(a), reads(b, { url: `http://127.0.0.1:${b.port}/onos/v1` })]);
  await synced(first, "from-b");
  expect(await devicesOf(first)).toEqual(["x:a from own", "x:b from from-b", "x:c from from-b"]);
  const { upstreamLogs } = (await statusOf(first, "from-b")) ?? {};
  expect(upstreamLogs?.length).toBe(2);
  reload(c, third, [own(c), reads(a)]);
  expect((await refused(third, "from-a")).error).toContain("through another Gazetteer");
  await refused(first, "from-b");
  await refused(second, "from-c");
  expect(await devicesOf(third)).toEqual(["x:c from own"]);
  reload(c, third, [own(c)]);
  await synced(first, "from-b");
  await synced(second, "from-c");
}, 180_000);

test("a service does not read itself, nor a copy of its data folder", async () => {
  const node = createNode("self");
  let service = await node.start([own(node), reads(node)]);
  expect((await refused(service, "from-self")).error).toContain("it is this service itself, or a copy");
  await service.stop();
  const copy = createNode("copy");
  cpSync(node.dataDir, copy.dataDir, { recursive: true });
  service = await node.start([own(node)]);
  const copied = await copy.start([reads(node)]);
  expect((await refused(copied, "from-self")).error).toContain("copy of its data folder");
}, 180_000);
