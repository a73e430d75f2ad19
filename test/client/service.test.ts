/** Streams of a real service: with curl, after a list, and with `gazetteer watch` and `gazetteer diff`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { EventStreamParser } from "../../src/client/event-stream.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { GAZETTEER, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { startChaosProxy } from "./chaos-proxy.ts";

let service: Service;
const env = { GAZETTEER_CREDENTIALS: "reader:secret" };
const client = () => createClient({ url: service.url, credentials: service.credentials });

beforeAll(async () => {
  const args = ["--data", ":memory:", "--demo", "devices=10,hosts=50,churn=20"];
  service = await startService({ args });
  await until(async () => (await client().ready()).status === "ready", { what: "the demo" });
});
afterAll(() => service.kill());

/** A child process that runs until the test stops it, and its output so far. */
function startProcess(command: string[]) {
  const child = Bun.spawn(command, {
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    void (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of child[name]) output[name] += decoder.decode(chunk, { stream: true });
    })();
  }
  return { child, output };
}

test.skipIf(!needs("curl"))("curl -N prints snapshot, synced and changes as they arrive", async () => {
  const url = `${service.url}/controller/v1/hosts`;
  const { child, output } = startProcess([
    "curl",
    "-sN",
    "-u",
    service.credentials,
    "-H",
    "Accept: text/event-stream",
    url,
  ]);
  try {
    await until(() => /^id: [\w-]+\.\d+\nevent: (?:added|updated|removed)$/m.test(output.stdout), {
      what: "a change",
    });
  } finally {
    child.kill();
    await child.exited;
  }
  const records = new EventStreamParser().push(new TextEncoder().encode(output.stdout));
  const names = records.map(({ event }) => event);
  const synced = names.indexOf("synced");
  expect(new Set(names.slice(0, synced))).toEqual(new Set(["snapshot"]));
  expect(names.slice(synced + 1)).not.toContain("snapshot");
});

test("a list and the stream from its revision have neither gap nor repeat", async () => {
  const { items, revision } = await client().list("hosts");
  const hosts = new Map(items.map((host) => [host.id, JSON.stringify(host)]));
  const revisions: number[] = [];
  let at = revision;
  for await (const event of client().watch("hosts", {}, { since: revision })) {
    if (event.type === "snapshot" || event.type === "synced" || event.type === "reset") {
      throw new Error(`${event.type} was not requested`);
    }
    if (event.type === "removed") expect(hosts.delete(event.value.id)).toBe(true);
    else hosts.set(event.value.id, JSON.stringify(event.value));
    revisions.push(event.revision);
    if (event.last) at = event.revision;
    if (event.last && revisions.length > 30) break;
  }
  expect(revisions.every((one, i) => one > revision && one >= (revisions[i - 1] ?? 0))).toBe(true);
  const body = await (await client().raw("hosts", { at })).text();
  const ids = [...hosts.keys()].sort();
  expect(`{"hosts":[${ids.map((id) => hosts.get(id)).join(",")}]}`).toBe(body);
});

test("a filtered stream and a filtered list agree, while hosts move in and out of it", async () => {
  const query = { device: (await client().list("hosts")).items[0]?.location.elementId };
  const ids = new Set<string>();
  let changes = 0;
  let at = 0;
  for await (const event of client().watch("hosts", query)) {
    if (event.type === "reset") throw new Error("reset was not requested");
    if (event.type === "removed") ids.delete(event.value.id);
    else if (event.type !== "synced") ids.add(event.value.id);
    if (event.type === "added" || event.type === "removed") changes++;
    at = event.revision;
    if (changes >= 5 && "last" in event && event.last) break;
  }
  const { items } = await client().list("hosts", { ...query, at });
  expect([...ids].sort()).toEqual(items.map(({ id }) => id));
}, 180_000);

describe("gazetteer watch", () => {
  test("prints one line a change, and SIGINT is not a failure", async () => {
    const { child, output } = startProcess([GAZETTEER, "watch", "hosts", "--url", service.url]);
    await until(() => output.stdout.split("\n").length > 3, { what: "three lines" });
    child.kill("SIGINT");
    expect(await child.exited).toBe(0);
    const line = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}[+~-] host {3}[0-9A-F:]{17}\/\w+/;
    for (const one of output.stdout.trimEnd().split("\n")) expect(one).toMatch(line);
    expect(output.stderr).toBe("");
  });

  test("-o json prints one event a line, with filters", async () => {
    const command = [GAZETTEER, "watch", "hosts", "vlan=None", "since=1", "--url", service.url, "-o", "json"];
    const { child, output } = startProcess(command);
    await until(() => output.stdout.split("\n").length > 3, { what: "three lines" });
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    for (const one of output.stdout.trimEnd().split("\n")) {
      expect(JSON.parse(one)).toMatchObject({
        resource: "hosts",
        value: { vlan: "None" },
        last: expect.any(Boolean),
      });
    }
  });

  test("it ends when its output is closed", async () => {
    const { child, output } = startProcess([
      "sh",
      "-c",
      `"${GAZETTEER}" watch --url ${service.url} | head -n 2`,
    ]);
    expect(await child.exited).toBe(0);
    await until(() => output.stdout.trimEnd().split("\n").length === 2, { what: "two lines" });
  });

  test("reports a lost service and continues when it is back", async () => {
    const args = ["--data", temporaryFolder(), "--demo", "devices=5,hosts=20,churn=20"];
    const proxy = await startChaosProxy(() => Number.POSITIVE_INFINITY);
    const first = await startService({ args });
    proxy.forwardTo(first.url);
    const { child, output } = startProcess([GAZETTEER, "watch", "--url", proxy.url]);
    await until(() => output.stdout !== "", { what: "a change" });
    // Its port may be given to another process.
    proxy.forwardTo(undefined);
    await first.stop();
    await until(() => /trying again in \d+\.\d s\n/.test(output.stderr), {
      what: "the report of the lost connection",
    });
    const second = await startService({ args });
    proxy.forwardTo(second.url);
    await until(() => output.stderr.includes("connected again"), {
      what: "the report of the new connection",
    });
    const { length } = output.stdout;
    await until(() => output.stdout.length > length, { what: "more changes" });
    child.kill("SIGINT");
    expect(await child.exited).toBe(0);
    await second.stop();
  }, 180_000);

  test.each([
    [["watch", "planets"], 2, 'there is no "planets"; there are devices, links, hosts, topology'],
    [["watch", "-o", "yaml"], 2, "-o yaml: there is text, json"],
    [["watch", "since=yesterday"], 2, '"yesterday" is not a point in time'],
    [["watch", "hosts", "colour=red"], 1, '400: The parameter "colour"'],
    [["watch", "--url", "http://a:b@127.0.0.1:1"], 1, "is the service running there?"],
  ])("%p fails with status %d", async (args, status, message) => {
    const allArgs = args.includes("--url") ? args : [...args, "--url", service.url];
    const run = await runCommand(allArgs, { env });
    expect({ status: run.status, stdout: run.stdout }).toEqual({ status, stdout: "" });
    expect(run.stderr).toContain(message);
  });

  test("wrong credentials are an error and not retried", async () => {
    const run = await runCommand(["watch", "--url", service.url], {
      env: { GAZETTEER_CREDENTIALS: "reader:wrong" },
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toStartWith("gazetteer watch: 401: ");
  });
});

describe("gazetteer diff", () => {
  const diff = (...args: string[]) => runCommand(["diff", ...args, "--url", service.url], { env });

  test("from the beginning everything is added", async () => {
    const { status, stdout, stderr } = await diff("0", "1", "devices");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^from revision 0 to revision 1 \(/);
    expect(stdout).toEndWith("\n10 added, 0 removed, 0 changed\n");
  });

  test("a time ago that is before the first revision begins there, and a note says so", async () => {
    const { status, stdout, stderr } = await diff("1h", "1", "devices");
    expect(status).toBe(0);
    expect(stderr).toContain("revision 1");
    expect(stdout).toMatch(/^from revision 1 /);
  });

  test("between a revision and itself nothing changed", async () => {
    expect((await diff("1", "1")).stdout).toEndWith("nothing changed\n");
  });

  test("-o json prints the response of the interface", async () => {
    const { revision } = await client().ready();
    const run = await diff("1", String(revision), "hosts", "vlan=None", "-o", "json");
    const result = await client().diff("hosts", 1, revision, { vlan: "None" });
    expect(JSON.parse(run.stdout)).toEqual(JSON.parse(JSON.stringify(result)));
    expect(result.changes.length).toBeGreaterThan(0);
  });

  test.each([
    [[], 2, "wants a point in time to compare with"],
    [["devies"], 2, '"devies" is not a point in time'],
    [["1", "2", "3"], 2, "wants two points in time, not 3"],
    [["1", "hosts", "links"], 2, "wants one of links, hosts"],
    [["999999999"], 1, "400: diff names a revision after the newest"],
  ])("%p fails with status %d", async (args, status, message) => {
    const run = await diff(...args);
    expect({ status: run.status, stdout: run.stdout }).toEqual({ status, stdout: "" });
    expect(run.stderr).toContain(message);
  });
});
