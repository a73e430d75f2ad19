/** Forwarding with reader processes, and after a reload. */
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Connection, connectToEachProcess, processIdsOf } from "../../service/connection.ts";
import { startThreeProcesses } from "../../service/start-with-readers.ts";
import { temporaryFolder } from "../../support/folder.ts";
import type { Service } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { type RawUpstream, response, startRawUpstream } from "./raw-upstream.ts";

let first: RawUpstream;
let second: RawUpstream;
let service: Service;
let connections: Connection[];
let file: string;

const write = (...sources: object[]) => writeFileSync(file, JSON.stringify({ aliases: ["onos"], sources }));
const controller = (name: string, { url }: RawUpstream, ...forward: string[]) => ({
  type: "controller",
  name,
  url,
  credentials: "onos:rocks",
  forward,
});

beforeAll(async () => {
  [first, second] = [await startRawUpstream(), await startRawUpstream()];
  const folder = temporaryFolder();
  file = join(folder, "g.json");
  write(controller("one", first, "flows"));
  service = await startThreeProcesses({ args: ["--config", file, "--data", ":memory:"] });
  connections = await connectToEachProcess(service, processIdsOf(service));
});
beforeEach(() => {
  for (const upstream of [first, second]) {
    upstream.requests.length = 0;
    upstream.respond = (socket, head) => {
      const whole = response('{"flows":[]}', "Gazetteer-Revision: 999\r\n");
      socket.end(head.startsWith("HEAD") ? whole.slice(0, -12) : whole);
    };
  }
});

describe("every process", () => {
  test("forwards, and knows the same paths", async () => {
    for (const connection of connections) {
      const { status, body, headers } = await connection.get("/onos/v1/flows/of:1?x=1");
      expect([status, body.toString()]).toEqual([200, '{"flows":[]}']);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; sandbox; frame-ancestors 'none'",
      );
      expect((await connection.get("/onos/v1/flows", {}, "HEAD")).headers.get("content-length")).toBe("12");
      expect((await connection.get("/onos/v1/flows", {}, "OPTIONS")).status).toBe(204);
      expect((await connection.get("/onos/v1/flows", { "Content-Length": "0" }, "POST")).status).toBe(405);
      for (const [path, status] of [
        ["flowsx", 404],
        ["flows/../cluster", 404],
        ["flows/%2e%2e/cluster", 404],
        ["metrics", 501],
      ]) {
        const unknown = await connection.get(`/onos/v1/${path}`);
        expect(unknown.status).toBe(Number(status));
        expect(Object.keys(JSON.parse(unknown.body.toString()))).toEqual(["code", "message"]);
      }
    }
    const lines = first.requests.map(({ head }) => head.split("\r\n")[0]);
    const each = ["GET /onos/v1/flows/of:1?x=1 HTTP/1.1", "HEAD /onos/v1/flows HTTP/1.1"];
    expect(lines).toEqual([...each, ...each, ...each]);
    for (const { head } of first.requests) expect(head).not.toMatch(/forwarded|gazetteer-relayed/i);
  });

  test("ends the forwarded request of a client that goes away", async () => {
    first.respond = () => {};
    const others = await connectToEachProcess(service, processIdsOf(service));
    for (const [index, client] of others.entries()) {
      client.send("/onos/v1/flows");
      await until(() => first.requests.length === index + 1, { what: "the forwarded request" });
      expect(first.last.closed).toBe(false);
      client.close();
      await until(() => first.last.closed, { what: "the end of the forwarded request" });
    }
    // The time-out of 30 s would have counted them as failures.
    const metrics = await (await service.fetch("/metrics")).text();
    expect(metrics).not.toContain('gazetteer_forwarded_requests_total{source="one",status="502"}');
  });
});

describe("a reload", () => {
  const reload = async (line: string, ...sources: object[]) => {
    const count = () => service.stderr().split(line).length;
    const before = count();
    write(...sources);
    process.kill(service.pid, "SIGHUP");
    await until(() => count() > before, { what: line });
  };
  const forwardedTo = async (path: string) => {
    const statuses: number[] = [];
    for (const connection of connections) statuses.push((await connection.get(path)).status);
    return { statuses, first: first.requests.length, second: second.requests.length };
  };

  test("that forwards one path twice is refused, and nothing changes", async () => {
    await reload(
      "reload refused",
      controller("one", first, "flows"),
      controller("two", second, "cluster", "flows"),
    );
    expect(service.stderr()).toContain("flows is already forwarded to the source one");
    expect(await forwardedTo("/onos/v1/cluster")).toEqual({ statuses: [200, 200, 200], first: 0, second: 0 });
  });

  test("changes what is forwarded, and where", async () => {
    await reload(
      "configuration reloaded",
      controller("one", first, "cluster"),
      controller("two", second, "flows"),
    );
    expect(await forwardedTo("/onos/v1/flows")).toEqual({ statuses: [200, 200, 200], first: 0, second: 3 });
    expect(await forwardedTo("/onos/v1/cluster")).toEqual({ statuses: [200, 200, 200], first: 3, second: 3 });
    await reload("configuration reloaded", controller("one", first));
    expect(await forwardedTo("/onos/v1/cluster")).toEqual({ statuses: [200, 200, 200], first: 3, second: 3 });
  });
});
