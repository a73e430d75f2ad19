/** The recipes for pandas, networkx and requests of docs/integrations.md, as they are printed, against a real service. */
import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";
import { hasRecipes, installRecipes, RECIPES } from "./recipes.ts";

const isPossible = hasRecipes();
/** More than a page. */
const HOSTS = 2100;

const link = (src: string, srcPort: number, dst: string, dstPort: number, state = "ACTIVE") => ({
  src: { device: src, port: srcPort },
  dst: { device: dst, port: dstPort },
  bidirectional: true,
  state,
});
const networkOf = (changed: Readonly<Record<string, unknown>> = {}) => ({
  devices: [
    { id: "a", annotations: { name: "leaf-1" } },
    { id: "b", annotations: { name: "leaf-2" } },
    { id: "c", annotations: { name: "leaf-3" } },
    { id: "d", annotations: { name: "leaf-4", ...changed } },
    { id: "e", annotations: { name: "leaf-5" }, available: false },
  ],
  links: [
    // Two cables between a and b, one between b and c, none that works between c and d.
    link("a", 1, "b", 1),
    link("a", 2, "b", 2),
    link("b", 3, "c", 1),
    link("c", 2, "d", 1, "INACTIVE"),
    link("a", 3, "e", 1),
    link("c", 3, "e", 2),
  ],
  hosts: Array.from({ length: HOSTS }, (_, n) => ({
    mac: `00:00:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`,
    vlan: n % 3 === 0 ? "10" : "None",
    locations: [{ elementId: n < 100 ? "a" : "c", port: 10 + n }],
    annotations: { name: `host-${n}` },
  })),
});

let service: Service;
const networkFile = join(temporaryFolder(), "network.json");
const writeNetwork = (changed?: Readonly<Record<string, unknown>>) =>
  writeFileSync(networkFile, JSON.stringify(networkOf(changed)));
beforeAll(async () => {
  writeNetwork();
  service = await startService({ args: ["--data", ":memory:", "--file", networkFile] });
});

test("the page has these programs", () => {
  expect([...RECIPES.keys()]).toEqual(["gazetteer.py", "hosts.py", "graph.py", "watch.py", "netbox.py"]);
});

test.skipIf(!isPossible)("pandas: a table of all hosts, over all pages", async () => {
  const { status, stdout, stderr } = await installRecipes(temporaryFolder(), service).run("hosts.py");
  expect([status, stderr]).toEqual([0, ""]);
  const table = stdout.split("\n").map((line) => line.trim().split(/ +/));
  expect(table.slice(0, 5)).toEqual([
    ["vlan", "10", "None", "All"],
    ["device"],
    ["leaf-1", "34", "66", "100"],
    ["leaf-3", "666", "1334", "2000"],
    ["All", "700", "1400", "2100"],
  ]);
});

test.skipIf(!isPossible)("networkx: a shortest path, and what has no alternative", async () => {
  const { status, stdout, stderr } = await installRecipes(temporaryFolder(), service).run("graph.py", [
    "leaf-1",
    "host-2000",
  ]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "path: leaf-1 > leaf-2 > leaf-3 > host-2000",
    "parts: 2",
    "only cable: leaf-2 leaf-3",
    "only way through: leaf-2",
  ]);
});

test.skipIf(!isPossible)("an error of the service is one line", async () => {
  const recipes = installRecipes(temporaryFolder(), { url: service.url, credentials: "reader:wrong" });
  for (const args of [["hosts.py"], ["watch.py", "devices"]] as const) {
    const { status, stderr } = await recipes.run(args[0], args.slice(1));
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^401: .*\n$/)]);
  }
});

test.skipIf(!isPossible)("a token is sent as Bearer", async () => {
  const sent: (string | null)[] = [];
  const fake = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ headers }) {
      sent.push(headers.get("authorization"));
      return Response.json({ detail: "no" }, { status: 403 });
    },
  });
  const recipes = installRecipes(temporaryFolder(), { url: fake.url.origin, credentials: "gzt.ann.secret" });
  expect((await recipes.run("hosts.py")).stderr).toBe("403: no\n");
  await fake.stop(true);
  expect(sent).toEqual(["Bearer gzt.ann.secret"]);
});

test.skipIf(!isPossible)(
  "requests: a stream that loses its connection goes on with the changes it missed",
  async () => {
    await using proxy = await startTcpProxy(Number(new URL(service.url).port));
    const recipes = installRecipes(temporaryFolder(), {
      url: `http://127.0.0.1:${proxy.port}`,
      credentials: service.credentials,
    });
    await using watch = recipes.start("watch.py", ["devices"]);
    let output = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of watch.stdout) output += decoder.decode(chunk, { stream: true });
    })();
    const changes = () => output.split("\n").filter((line) => line.startsWith("updated")).length;
    const change = async (annotations: Readonly<Record<string, string>>) => {
      writeNetwork(annotations);
      const isThere = async () => {
        const { annotations: shown } = await (await service.fetch("/controller/v1/devices/d")).json();
        return Object.entries(annotations).every(([key, value]) => shown[key] === value);
      };
      await until(isThere, { what: "the change in the service" });
    };
    await until(() => output.includes("synced"), { what: "the snapshot" });
    await change({ step: "1" });
    await until(() => changes() === 1, { what: "the first change" });
    proxy.cut();
    await change({ step: "2" });
    await change({ step: "3" });
    proxy.open();
    await until(() => changes() === 3, { what: "the changes that it missed" });
    await change({ step: "4" });
    await until(() => changes() === 4, { what: "a change after them" });
    watch.kill();
    await watch.exited;
    await reading;
    const snapshot = ["a", "b", "c", "d", "e"].map((id) => `snapshot ${id}`);
    expect(
      output
        .trimEnd()
        .split("\n")
        .map((line) => line.trimEnd()),
    ).toEqual([...snapshot, "synced", ...Array.from({ length: 4 }, () => "updated d")]);
  },
);
