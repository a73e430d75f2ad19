/** `serve --readers N`: several processes that answer as one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { runCommand, type Service } from "../support/service.ts";
import { until } from "../support/until.ts";
import { type Connection, oneToEach, processesOf, type Reply } from "./connection.ts";
import { startThree } from "./start-with-readers.ts";

const API = "/controller/v1";
const PROCESSES = 3;

describe("three processes and a network that changes", () => {
  let service: Service;
  let connections: Connection[];
  beforeAll(async () => {
    service = await startThree({ args: ["--data", ":memory:", "--demo", "devices=30,hosts=120,churn=40"] });
    connections = await oneToEach(service, processesOf(service));
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  const asked = (path: string, headers?: Record<string, string>, method?: string) =>
    Promise.all(connections.map((connection) => connection.get(path, headers, method)));

  /** One answer from each process, all of one revision. */
  const atOneRevision = (path: string, headers?: Record<string, string>): Promise<Reply[]> =>
    until(
      async () => {
        const replies = await asked(path, headers);
        return new Set(replies.map(({ revision }) => revision)).size === 1 ? replies : undefined;
      },
      { what: `answers of one revision to ${path}`, everyMs: 1 },
    );

  test("all of them answer", () => {
    expect(connections).toHaveLength(PROCESSES);
  });

  test("with the same bytes and entity tags at the same revision, and 304 for each other's tags", async () => {
    const { devices } = JSON.parse((await asked(`${API}/devices`))[0]?.body.toString() ?? "");
    const id = encodeURIComponent(devices[0].id);
    for (const path of [
      "/devices",
      "/links",
      "/hosts",
      "/topology",
      "/devices/ports",
      `/devices/${id}`,
      `/devices/${id}/ports`,
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
      if (!first) throw new Error("no answer");
      const what = ({ status, headers, body }: Reply) => ({
        path,
        status,
        etag: headers.get("etag"),
        type: headers.get("content-type"),
        body: body.toString().replace(/urn:uuid:[0-9a-f-]+/, ""),
      });
      for (const other of others) expect(what(other)).toEqual(what(first));
    }
    const zipped = await atOneRevision(`${API}/hosts`, { "Accept-Encoding": "gzip" });
    const tags = new Set(zipped.map(({ headers }) => headers.get("etag")));
    expect(tags.size).toBe(1);
    const bodies = new Set(zipped.map(({ body }) => gunzipSync(body).toString()));
    expect(bodies.size).toBe(1);
    await until(
      async () => {
        const etag = (await asked(`${API}/devices`))[0]?.headers.get("etag") ?? "";
        const replies = await asked(`${API}/devices`, { "If-None-Match": etag });
        return replies.every(({ status }) => status === 304);
      },
      { what: "304 from all" },
    );
  });

  test("streams tell every change, in the same words, whoever tells it", async () => {
    const [here] = await atOneRevision(`${API}/topology`);
    const from = here?.revision ?? 0;
    const readers = await oneToEach(service, processesOf(service));
    const texts = await Promise.all(
      readers.map(async (connection) => {
        connection.send(`${API}/topology?since=${from}`, { Accept: "text/event-stream" });
        expect((await connection.head()).status).toBe(200);
        let text = "";
        while (!text.includes(`id: ${from + 60}\n`)) text += (await connection.chunk()).toString();
        connection.close();
        return text.slice(0, text.indexOf(`id: ${from + 60}\n`)).replace(/^: .*\n(id: .*\n)?\n/gm, "");
      }),
    );
    const [first = ""] = texts;
    for (let revision = from + 1; revision < from + 60; revision++)
      expect(first).toContain(`id: ${revision}\n`);
    for (const text of texts) expect(text).toBe(first);
  });

  test("a snapshot and what follows it, told by a reader, come to what a list says", async () => {
    for (const connection of await oneToEach(service, processesOf(service))) {
      connection.send(`${API}/hosts`, { Accept: "text/event-stream" });
      await connection.head();
      let text = "";
      while (!/^event: synced\ndata: .*\n\n/m.test(text)) text += (await connection.chunk()).toString();
      connection.close();
      const { revision, marks } = JSON.parse(/^event: synced\ndata: (.*)$/m.exec(text)?.[1] ?? "{}");
      const told = [...text.matchAll(/^event: snapshot\ndata: (.*)$/gm)].map(
        ([, data = ""]) => JSON.parse(data).value,
      );
      const list = await (await service.fetch(`${API}/hosts?at=${revision}`)).json();
      expect(told).toEqual(list.hosts);
      expect(Object.keys(marks).sort()).toEqual(["devices", "graph", "hosts", "links", "ports"]);
    }
  });

  test("the past, pages and what is not the interface are the same from all", async () => {
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
      const [first, ...others] = (await asked(API + path)).map(({ status, headers, body }) => ({
        path,
        status,
        etag: headers.get("etag"),
        type: headers.get("content-type"),
        // Which moment is the newest, or the request's name, differs.
        body: body.toString().replace(/urn:uuid:[0-9a-f-]+|newest, which is \d+/g, ""),
      }));
      for (const other of others) expect(other).toEqual(first ?? other);
    }
    for (const reply of await asked(`${API}/hosts?since=1`)) {
      expect(reply.status).toBe(200);
      expect(JSON.parse(reply.body.toString()).changes[0].revision).toBe(2);
    }
    for (const reply of await asked(`${API}/hosts?at=${now}`, { "Accept-Encoding": "gzip" })) {
      expect(reply.headers.get("content-encoding")).toBe("gzip");
      expect(JSON.parse(gunzipSync(reply.body).toString()).hosts.length).toBeGreaterThan(0);
    }
    for (const { status, body } of await asked(`${API}/hosts?at=${now}`, {}, "HEAD")) {
      expect({ status, length: body.length }).toEqual({ status: 200, length: 0 });
    }
    for (const path of ["/metrics", "/readyz", "/openapi.json", "/"]) {
      for (const { status } of await asked(path)) expect({ path, status }).toEqual({ path, status: 200 });
    }
  });

  test("a walk over pages goes on wherever the next one is asked", async () => {
    const pages: { hosts: { id: string }[]; next?: string }[] = [];
    let path = `${API}/hosts?limit=9`;
    let revision = 0;
    for (let n = 0; path !== ""; n++) {
      const connection = connections[n % PROCESSES];
      const reply = await connection?.get(path);
      const page = JSON.parse(reply?.body.toString() ?? "");
      pages.push(page);
      revision ||= reply?.revision ?? 0;
      path = page.next === undefined ? "" : `${API}/hosts?limit=9&cursor=${page.next}`;
    }
    const whole = await (await service.fetch(`${API}/hosts?at=${revision}`)).json();
    expect(pages.flatMap(({ hosts }) => hosts)).toEqual(whole.hosts);
  });

  test("on one connection the revision never goes back, also where another process answered", async () => {
    for (const connection of connections) {
      let last = 0;
      for (let n = 0; n < 150; n++) {
        // Newer than this process may be, and so asked of the writer.
        const ahead = n % 3 === 0 ? Number((await (await service.fetch("/readyz")).json()).revision) : last;
        const path = n % 3 === 0 ? `/devices?since=${ahead}` : n % 3 === 1 ? "/topology" : "/hosts?limit=1";
        const { status, revision } = await connection.get(API + path);
        expect(status).toBe(200);
        expect(revision).toBeGreaterThanOrEqual(last);
        last = revision;
      }
    }
  });

  test("nobody gets in without a password, nor with none and no name", async () => {
    for (const authorization of ["", "Basic Og==", `Basic ${btoa(":secret")}`]) {
      for (const { status } of await asked(`${API}/devices?at=1`, { Authorization: authorization })) {
        expect(status).toBe(401);
      }
    }
  });
});

test("the process is not for people", async () => {
  const { status, stdout, stderr } = await runCommand(["reader-process"], { stdin: "{}\n" });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toContain("--readers N");
  expect((await runCommand(["help"])).stdout).not.toContain("reader-process");
  const wrong = await runCommand(["serve", "--readers", "0", "--port", "0"]);
  expect(wrong.status).toBe(2);
  expect(wrong.stderr).toContain("readers");
});
