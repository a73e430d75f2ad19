/** `serve --readers N`: all processes give the same responses. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, spawnCommand } from "../support/service.ts";
import { until } from "../support/until.ts";
import { type Connection, connectToEachProcess, processIdsOf, type RawResponse } from "./connection.ts";
import { startThreeProcesses } from "./start-with-readers.ts";

const API = "/controller/v1";
const PROCESSES = 3;

describe("three processes and a changing network", () => {
  let service: Service;
  let connections: Connection[];
  beforeAll(async () => {
    service = await startThreeProcesses({
      args: ["--data", ":memory:", "--demo", "devices=30,hosts=120,churn=40"],
    });
    connections = await connectToEachProcess(service, processIdsOf(service));
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  const getFromEach = (path: string, headers?: Record<string, string>, method?: string) =>
    Promise.all(connections.map((connection) => connection.get(path, headers, method)));

  /** One response of each process, all of one revision. */
  const atOneRevision = (path: string, headers?: Record<string, string>): Promise<RawResponse[]> =>
    until(
      async () => {
        const responses = await getFromEach(path, headers);
        return new Set(responses.map(({ revision }) => revision)).size === 1 ? responses : undefined;
      },
      { what: `responses of one revision to ${path}`, everyMs: 1 },
    );

  test("every process accepts connections", () => {
    expect(connections).toHaveLength(PROCESSES);
  });

  test("responses of one revision have the same bytes and entity tags, and each process sends 304 for the tags of the others", async () => {
    const { devices } = JSON.parse((await getFromEach(`${API}/devices`))[0]?.body.toString() ?? "");
    const id = encodeURIComponent(devices[0].id);
    for (const path of [
      "/devices",
      "/links",
      "/hosts",
      "/topology",
      "/devices/ports",
      `/devices/${id}`,
      `/devices/${id}/ports`,
      `/devices/${id}?explain=true`,
      "/topology/clusters",
      "/topology/clusters/0/links",
      "/hosts?sort=-mac&fields=mac,ipAddresses",
      "/devices?q=a&format=csv",
      "/links?format=ndjson",
      `/hosts?around=${id}&hops=2`,
      `/topology?around=${id}`,
      "/hosts?format=prometheus",
      "/topology?format=netjson",
      "/topology?format=rfc8345",
      "/topology?format=graphml",
      "/topology?format=svg",
      "/hosts?limit=7",
      "/devices/none",
    ]) {
      const [first, ...others] = await atOneRevision(API + path);
      if (!first) throw new Error("no response");
      const comparable = ({ status, headers, body }: RawResponse) => ({
        path,
        status,
        etag: headers.get("etag"),
        type: headers.get("content-type"),
        body: body.toString().replace(/urn:uuid:[0-9a-f-]+/, ""),
      });
      for (const other of others) expect(comparable(other)).toEqual(comparable(first));
    }
    const zipped = await atOneRevision(`${API}/hosts`, { "Accept-Encoding": "gzip" });
    const tags = new Set(zipped.map(({ headers }) => headers.get("etag")));
    expect(tags.size).toBe(1);
    const bodies = new Set(zipped.map(({ body }) => gunzipSync(body).toString()));
    expect(bodies.size).toBe(1);
    await until(
      async () => {
        const etag = (await getFromEach(`${API}/devices`))[0]?.headers.get("etag") ?? "";
        const responses = await getFromEach(`${API}/devices`, { "If-None-Match": etag });
        return responses.every(({ status }) => status === 304);
      },
      { what: "304 from all processes" },
    );
  });

  test("streams of all processes carry every change, with the same bytes", async () => {
    const [here] = await atOneRevision(`${API}/topology`);
    const from = here?.revision ?? 0;
    const readers = await connectToEachProcess(service, processIdsOf(service));
    const texts = await Promise.all(
      readers.map(async (connection) => {
        connection.send(`${API}/topology?since=${from}`, { Accept: "text/event-stream" });
        expect((await connection.readHead()).status).toBe(200);
        let text = "";
        while (!text.includes(`.${from + 60}\n`)) text += (await connection.readChunk()).toString();
        connection.close();
        return text
          .slice(0, text.lastIndexOf("id: ", text.indexOf(`.${from + 60}\n`)))
          .replace(/^: .*\n(id: .*\n)?\n/gm, "");
      }),
    );
    const [first = ""] = texts;
    for (let revision = from + 1; revision < from + 60; revision++)
      expect(first).toMatch(new RegExp(`^id: [\\w-]+\\.${revision}$`, "m"));
    for (const text of texts) expect(text).toBe(first);
  });

  test("the snapshot of a stream equals the list of its revision, in every process", async () => {
    for (const connection of await connectToEachProcess(service, processIdsOf(service))) {
      connection.send(`${API}/hosts`, { Accept: "text/event-stream" });
      await connection.readHead();
      let text = "";
      while (!/^event: synced\ndata: .*\n\n/m.test(text)) text += (await connection.readChunk()).toString();
      connection.close();
      const { revision, marks } = JSON.parse(/^event: synced\ndata: (.*)$/m.exec(text)?.[1] ?? "{}");
      const snapshot = [...text.matchAll(/^event: snapshot\ndata: (.*)$/gm)].map(
        ([, data = ""]) => JSON.parse(data).value,
      );
      const list = await (await service.fetch(`${API}/hosts?at=${revision}`)).json();
      expect(snapshot).toEqual(list.hosts);
      expect(Object.keys(marks).sort()).toEqual(["devices", "graph", "hosts", "links", "missing", "ports"]);
    }
  });

  test("history and cursors give the same responses in every process; each serves metrics and the page too", async () => {
    const now = (await atOneRevision(`${API}/topology`))[0]?.revision ?? 0;
    for (const path of [
      `/devices?at=${now - 20}`,
      `/hosts?at=${now - 20}&limit=5`,
      `/topology?at=2000-01-01T00:00:00Z`,
      `/topology?diff=${now - 20}..${now - 5}`,
      "/devices?since=1&at=3",
      "/devices?since=999999999",
      "/devices?at=nonsense",
      "/devices?cursor=made-up&limit=3",
    ]) {
      const [first, ...others] = (await getFromEach(API + path)).map(({ status, headers, body }) => ({
        path,
        status,
        etag: headers.get("etag"),
        type: headers.get("content-type"),
        // The newest revision and the id of the request differ.
        body: body.toString().replace(/urn:uuid:[0-9a-f-]+|newest, which is \d+/g, ""),
      }));
      for (const other of others) expect(other).toEqual(first ?? other);
    }
    for (const response of await getFromEach(`${API}/hosts?since=1`)) {
      expect(response.status).toBe(200);
      expect(JSON.parse(response.body.toString()).changes[0].revision).toBe(2);
    }
    for (const response of await getFromEach(`${API}/hosts?at=${now}`, { "Accept-Encoding": "gzip" })) {
      expect(response.headers.get("content-encoding")).toBe("gzip");
      expect(JSON.parse(gunzipSync(response.body).toString()).hosts.length).toBeGreaterThan(0);
    }
    for (const { status, body } of await getFromEach(`${API}/hosts?at=${now}`, {}, "HEAD")) {
      expect({ status, length: body.length }).toEqual({ status: 200, length: 0 });
    }
    for (const path of ["/metrics", "/readyz", "/openapi.json", "/docs/errors", "/"]) {
      for (const { status } of await getFromEach(path))
        expect({ path, status }).toEqual({ path, status: 200 });
    }
  });

  test("a cursor of one process is valid in the others", async () => {
    const pages: { hosts: { id: string }[]; next?: string }[] = [];
    let path = `${API}/hosts?limit=9`;
    let revision = 0;
    for (let n = 0; path !== ""; n++) {
      const connection = connections[n % PROCESSES];
      const response = await connection?.get(path);
      const page = JSON.parse(response?.body.toString() ?? "");
      pages.push(page);
      revision ||= response?.revision ?? 0;
      path = page.next === undefined ? "" : `${API}/hosts?limit=9&cursor=${page.next}`;
    }
    const whole = await (await service.fetch(`${API}/hosts?at=${revision}`)).json();
    expect(pages.flatMap(({ hosts }) => hosts)).toEqual(whole.hosts);
  });

  test("on one connection the revision never decreases, also when the request is relayed to the writer", async () => {
    for (const connection of connections) {
      let last = 0;
      for (let n = 0; n < 150; n++) {
        // May be newer than the replica of this process, which then relays the request to the writer. No page among the
        // paths: its revision is the one that last changed its list, which may be older.
        const ahead = n % 3 === 0 ? Number((await (await service.fetch("/readyz")).json()).revision) : last;
        const path =
          n % 3 === 0 ? `/devices?since=${ahead}` : n % 3 === 1 ? "/topology" : "/hosts?fields=mac";
        const { status, revision } = await connection.get(API + path);
        expect(status).toBe(200);
        expect(revision).toBeGreaterThanOrEqual(last);
        last = revision;
      }
    }
  });

  test("OPTIONS has the same status in every process: 204, or 404 for a path that does not exist", async () => {
    const expected = {
      "/": 204,
      "/docs/errors": 204,
      [`${API}/devices`]: 204,
      "/nothing": 404,
      [`${API}/nothing`]: 404,
    };
    for (const [path, status] of Object.entries(expected)) {
      const responses = await getFromEach(path, {}, "OPTIONS");
      expect([path, ...responses.map((response) => response.status)]).toEqual([path, status, status, status]);
    }
  });

  test("requests without credentials, or with those of the internal user and a wrong password, get 401", async () => {
    for (const authorization of ["", "Basic Og==", `Basic ${btoa(":secret")}`]) {
      for (const { status } of await getFromEach(`${API}/devices?at=1`, { Authorization: authorization })) {
        expect(status).toBe(401);
      }
    }
  });

  test("a reader refuses requests without credentials by itself", async () => {
    const writer = service.pid;
    process.kill(writer, "SIGSTOP");
    try {
      for (const reader of connections.slice(1)) {
        const { status } = await reader.get(`${API}/devices?at=1`, { Authorization: "" });
        expect(status).toBe(401);
      }
    } finally {
      process.kill(writer, "SIGCONT");
    }
  });
});

test("the reader command refuses to run without a writer and is not listed in the help", async () => {
  const { status, stdout, stderr } = await runCommand(["reader-process"], { stdin: "{}\n" });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain("--readers N");
  expect((await runCommand(["help"])).stdout).not.toContain("reader-process");
  const wrong = await spawnCommand(["serve", "--readers", "0", "--port", "0"]);
  expect(wrong.status).toBe(2);
  expect(wrong.stderr).toContain("readers");
});

test("the processes of readers get no variables that may be secrets", async () => {
  const service = await startThreeProcesses({ env: { GAZETTEER_TEST_SECRET: "hidden" } });
  const [main, ...readers] = processIdsOf(service).map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8"));
  await service.stop();
  expect(main).toContain("hidden");
  expect(readers).toHaveLength(PROCESSES - 1);
  for (const environment of readers) expect(environment).not.toContain("hidden");
});

test("every process explains an entity with the claims of all sources, which only the main process has", async () => {
  const folder = temporaryFolder();
  const sources = ["first", "second"].map((name) => {
    const path = join(folder, `${name}.yaml`);
    writeFileSync(path, `devices:\n  - { id: "of:0000000000000001", hw: ${name} }\n`);
    return `  - { type: file, name: ${name}, path: ${path} }\n`;
  });
  const config = join(folder, "gazetteer.yaml");
  writeFileSync(config, `sources:\n${sources.join("")}`);
  await using service = await startThreeProcesses({ args: ["--data", ":memory:", "--config", config] });
  const connections = await connectToEachProcess(service, processIdsOf(service));
  const path = `${API}/devices/of:0000000000000001?explain=true`;
  for (const connection of connections) {
    const { claims, fields } = JSON.parse((await connection.get(path)).body.toString());
    expect(claims.map(({ source }: { source: string }) => source)).toEqual(["first", "second"]);
    expect(fields.hw).toMatchObject({ value: "first", source: "first" });
  }
});
