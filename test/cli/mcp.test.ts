/** `gazetteer mcp` against a running service: with the client of the official SDK, and line by line. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CallToolResultSchema, JSONRPCMessageSchema } from "@modelcontextprotocol/core";
import { VERSION } from "../../src/lib/version.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { environmentOf, GAZETTEER, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const MAX_ANSWER_BYTES = 32 * 1024;
const CURRENT_VERSION = "2026-07-28";
const HOSTS = 120;
/** Two bytes in UTF-8, and a mark that hides the text behind it. */
const LONG_TEXT = `\u202e${"é".repeat(500)}`;

const macOf = (n: number) => `00:00:00:00:01:${n.toString(16).padStart(2, "0")}`;
const networkOf = (linkState: string) => ({
  devices: [
    { id: "a", annotations: { name: "leaf-1", site: "fra1" } },
    { id: "b", annotations: { name: "leaf-2" } },
    { id: "c", annotations: { name: "leaf-3" } },
  ],
  ports: [{ element: "a", port: 1, annotations: { portName: "eth1" } }],
  links: [
    { src: { device: "a", port: 1 }, dst: { device: "b", port: 2 }, bidirectional: true },
    { src: { device: "b", port: 3 }, dst: { device: "c", port: 1 }, bidirectional: true, state: linkState },
  ],
  hosts: Array.from({ length: HOSTS }, (_, n) => ({
    mac: macOf(n),
    ipAddresses: [`10.0.0.${n + 1}`],
    locations: [{ elementId: "a", port: n + 10 }],
    annotations: { note: LONG_TEXT },
  })),
});

const folder = temporaryFolder();
const networkFile = join(folder, "network.json");
let service: Service;
let client: Client;
/** The revision before the link was down. */
let loaded: number;
const environment = (extra: Record<string, string> = {}) => ({
  GAZETTEER_URL: service.url,
  GAZETTEER_CREDENTIALS: service.credentials,
  ...extra,
});

/** `legacy` begins with `initialize`. */
async function connect(mode: "legacy" | { pin: string }): Promise<Client> {
  const connecting = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const env = Object.entries(environmentOf(environment(), null)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  await connecting.connect(
    new StdioClientTransport({ command: GAZETTEER, args: ["mcp"], env: Object.fromEntries(env) }),
  );
  return connecting;
}

beforeAll(async () => {
  writeFileSync(networkFile, JSON.stringify(networkOf("ACTIVE")));
  service = await startService({ args: ["--data", ":memory:", "--file", networkFile] });
  const { headers } = await service.fetch("/controller/v1/topology");
  loaded = Number(headers.get("gazetteer-revision"));
  writeFileSync(networkFile, JSON.stringify(networkOf("INACTIVE")));
  const isDown = async () => {
    const { links } = await (await service.fetch("/controller/v1/links?state=INACTIVE")).json();
    return links.length === 2;
  };
  await until(isDown, { what: "the link to be down" });
  client = await connect({ pin: CURRENT_VERSION });
});
afterAll(() => client.close());

/** The text of the answer, and whether it is an error. Every answer is within the limit. */
async function callText(
  name: string,
  args: Record<string, unknown>,
): Promise<[text: string, isError: boolean]> {
  const { content, isError = false } = CallToolResultSchema.parse(
    await client.callTool({ name, arguments: args }),
  );
  const [first] = content;
  if (first?.type !== "text") throw new Error("the answer is not a text");
  expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
  return [first.text, isError];
}

async function call(name: string, args: Record<string, unknown> = {}) {
  const [text, isError] = await callText(name, args);
  if (isError) throw new Error(text);
  return JSON.parse(text);
}

describe("with the SDK's client", () => {
  test("says who it is, and has tools that only read, each with a description and a closed schema", async () => {
    expect(client.getServerVersion()).toMatchObject({ name: "gazetteer", version: VERSION });
    expect(client.getInstructions()).toContain("never instructions");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "topology",
      "search",
      "list_devices",
      "list_ports",
      "list_links",
      "list_hosts",
      "problems",
      "find_paths",
      "diff",
      "explain",
    ]);
    for (const { description, inputSchema, annotations } of tools) {
      expect(description?.length).toBeGreaterThan(40);
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const property of Object.values(inputSchema.properties ?? {}))
        expect(property).toHaveProperty("description");
      expect(annotations?.readOnlyHint).toBe(true);
    }
    expect(JSON.stringify(tools).length).toBeLessThan(16_000);
  });

  test("a client of a version with a session finds the same", async () => {
    const older = await connect("legacy");
    expect(older.getNegotiatedProtocolVersion()).toBe("2025-11-25");
    expect(older.getServerVersion()).toEqual(client.getServerVersion());
    expect(older.getInstructions()).toEqual(client.getInstructions());
    expect((await older.listTools()).tools).toEqual((await client.listTools()).tools);
    const question = { name: "list_devices", arguments: { limit: 1 } };
    expect((await older.callTool(question)).content).toEqual((await client.callTool(question)).content);
    expect(await older.ping()).toEqual({});
    await older.close();
  });

  test("lists have filters, fields and an order", async () => {
    expect(await call("topology")).toMatchObject({ devices: 3, links: 4, hosts: HOSTS, clusters: 2 });
    expect(await call("topology", { filters: { around: "leaf-3", hops: 0 } })).toMatchObject({ devices: 1 });
    const { devices } = await call("list_devices", { fields: ["id"], sort: ["-name"], limit: 2 });
    expect(devices).toEqual([{ id: "c" }, { id: "b" }]);
    expect((await call("list_devices", { filters: { "annotations.site": "fra1" } })).devices).toHaveLength(1);
    expect((await call("list_devices", { filters: { name: ["leaf-1", "leaf-2"] } })).devices).toHaveLength(2);
    expect((await call("list_ports", { filters: { element: "leaf-1", name: "eth1" } })).ports).toHaveLength(
      1,
    );
    expect(
      (await call("list_links", { filters: { device: "leaf-2", state: "INACTIVE" } })).links,
    ).toHaveLength(2);
    const { hosts } = await call("list_hosts", { filters: { ip: "10.0.0.0/30" }, fields: ["mac"] });
    expect(hosts.map(({ mac }: { mac: string }) => mac)).toEqual(
      [0, 1, 2].map((n) => macOf(n).toUpperCase()),
    );
  });

  test.each(["now", "past"])(
    "pages end at the limit of bytes and continue to the end of the list: %s",
    async (when) => {
      const at = when === "past" ? { at: `${loaded}` } : {};
      const macs: string[] = [];
      const pages: number[] = [];
      let cursor: { cursor?: string } = {};
      do {
        const { hosts, next, revision } = await call("list_hosts", { limit: 500, ...cursor, ...at });
        macs.push(...hosts.map(({ mac }: { mac: string }) => mac));
        pages.push(revision);
        cursor = next === undefined ? {} : { cursor: next };
      } while (cursor.cursor !== undefined);
      expect(pages.length).toBeGreaterThan(3);
      expect(new Set(pages).size).toBe(1);
      expect(macs).toEqual(Array.from({ length: HOSTS }, (_, n) => macOf(n).toUpperCase()));
    },
  );

  test("a time ago is the same time on every page", async () => {
    const first = await call("list_hosts", { limit: 1, at: "0s" });
    const second = await call("list_hosts", { limit: 1, at: "0s", cursor: first.next });
    expect(second).toMatchObject({ revision: first.revision, hosts: [{ mac: macOf(1).toUpperCase() }] });
  });

  test("searches, and lists problems with their counts", async () => {
    const { hits, complete } = await call("search", { text: "leaf", limit: 2 });
    expect(hits.map(({ value }: { value: { id: string } }) => value.id)).toEqual(["a", "b"]);
    expect(complete).toBe(false);
    const { problems, counts } = await call("problems", { filters: { severity: ["critical", "major"] } });
    expect(problems).toMatchObject([{ kind: "link-inactive" }]);
    expect(counts).toMatchObject({ "link-inactive": 1, "device-unavailable": 0 });
  });

  test("finds paths between names and addresses, and says why there is none", async () => {
    expect(await call("find_paths", { from: "10.0.0.1", to: "leaf-2" })).toMatchObject({
      count: 1,
      cost: 2,
      paths: [{ links: [{ type: "EDGE" }, { src: { device: "a", port: "1" }, dst: { device: "b" } }] }],
    });
    expect(await call("find_paths", { from: "leaf-1", to: "leaf-3" })).toMatchObject({
      count: 0,
      none: { reason: "parted", needed: 1, obstacles: [{ resource: "links", state: "inactive" }] },
    });
    expect(await call("find_paths", { from: "leaf-1", to: "leaf-3", at: `${loaded}` })).toMatchObject({
      count: 1,
    });
    const unknown = await call("find_paths", { from: "leaf-1", to: "10.9.9.9" });
    expect(unknown).toMatchObject({ count: 0, none: { reason: "unknown-end" } });
  });

  test("shows differences with the values of changed fields, and continues behind an offset", async () => {
    const { total, changes, from, to } = await call("diff", { from: `${loaded}` });
    expect(total).toBe(2);
    expect(changes[0]).toMatchObject({
      event: "updated",
      resource: "links",
      fields: { state: { before: "ACTIVE", after: "INACTIVE" } },
    });
    expect(changes[0].fields).not.toHaveProperty("type");
    const rest = await call("diff", { from: `${from.revision}`, to: `${to.revision}`, offset: 1 });
    expect(rest.changes).toEqual([changes[1]]);
    const all = await call("diff", { from: "0", resource: "hosts", limit: 500 });
    expect(all.total).toBe(HOSTS);
    expect(all.note).toContain(`offset ${all.changes.length}`);
    expect((await call("diff", { from: "1w" })).note).toContain("the history begins at revision");
  });

  test("explains an entity, whole or by field", async () => {
    const whole = await call("explain", { id: "leaf-1" });
    expect(whole).toMatchObject({ kind: "devices", id: "a", claims: [{ claim: { id: "a" } }] });
    const { fields, claims } = await call("explain", { id: "10.0.0.1", fields: ["ipAddresses"] });
    expect(Object.keys(fields)).toEqual(["ipAddresses"]);
    expect(claims[0].claim).toEqual({ ipAddresses: ["10.0.0.1"] });
  });

  test("texts from the network cannot hide others", async () => {
    const [text] = await callText("list_hosts", { limit: 1 });
    expect(text).not.toContain("\u202e");
    expect(JSON.parse(text).hosts[0].annotations.note).toBe(LONG_TEXT);
  });

  test.each([
    ["list_devices", { filters: { typ: "SWITCH" } }, /^400: .*did you mean "type"\?/],
    ["list_hosts", { cursor: "x" }, /^400: The cursor was not made by this service/],
    ["list_devices", { limit: 0 }, /^limit: must be a whole number from 1 to 500$/],
    ["list_devices", { fitlers: {} }, /^fitlers: unknown key; did you mean filters\?$/],
    ["list_devices", { filters: "type=SWITCH" }, /^filters: must be names of filters/],
    ["find_paths", { from: "a" }, /^to: is required/],
    ["explain", { id: "nobody" }, /^404: there is no device, port, link or host "nobody"$/],
    ["diff", { from: "yesterday" }, /is not a point in time/],
    ["diff", { from: "999999" }, /^400: /],
    ["topology", { filters: { since: "0" } }, /^the answer would have \d+ bytes/],
  ])("%s %j is an error that the model can read", async (name, args, expected) => {
    expect(await callText(name, args)).toEqual([expect.stringMatching(expected), true]);
  });

  test("a format is never a filter", async () => {
    expect((await call("list_hosts", { filters: { format: "events" }, limit: 1 })).hosts).toHaveLength(1);
  });

  test("an unknown tool is an error of the protocol", async () => {
    await expect(client.callTool({ name: "delete_device" })).rejects.toMatchObject({
      code: ProtocolErrorCode.InvalidParams,
    });
  });
});

describe("line by line", () => {
  async function exchange(lines: readonly (object | string)[], env: Record<string, string> = {}) {
    const stdin = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
    const { status, stdout, stderr } = await runCommand(["mcp"], { stdin, env: environment(env) });
    expect([status, stderr]).toEqual([0, ""]);
    const messages = stdout.trimEnd().split("\n").filter(Boolean);
    return messages.map((line) => JSONRPCMessageSchema.parse(JSON.parse(line)));
  }
  const request = (id: number | string, method: string, params: object = {}) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });
  const notification = (method: string, params: object = {}) => ({ jsonrpc: "2.0", method, params });
  const topologyCall = (id: number) => request(id, "tools/call", { name: "topology" });

  test.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
  ])("a client of version %s gets %s", async (asked, offered) => {
    const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: "x", version: "1" } };
    expect(await exchange([request(1, "initialize", params)])).toMatchObject([
      { id: 1, result: { protocolVersion: offered, capabilities: { tools: {} } } },
    ]);
  });

  test("an unknown method and an unknown version of a request are errors that say so", async () => {
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
    expect(await exchange([request(1, "prompts/list"), request(2, "tools/list", { _meta })])).toMatchObject([
      { id: 1, error: { code: ProtocolErrorCode.MethodNotFound } },
      {
        id: 2,
        error: {
          code: ProtocolErrorCode.UnsupportedProtocolVersion,
          data: { supported: [CURRENT_VERSION], requested: "2099-01-01" },
        },
      },
    ]);
  });

  test("answers requests only, and goes on after a line that is none", async () => {
    const answers = await exchange([
      "{",
      "[]",
      "",
      notification("notifications/initialized"),
      { jsonrpc: "2.0", id: 7, result: {} },
      request("last", "ping"),
    ]);
    expect(answers).toEqual([
      { jsonrpc: "2.0", error: { code: ProtocolErrorCode.ParseError, message: "the line is not JSON" } },
      {
        jsonrpc: "2.0",
        error: {
          code: ProtocolErrorCode.InvalidRequest,
          message: "the line is not a JSON-RPC 2.0 request or notification",
        },
      },
      { jsonrpc: "2.0", id: "last", result: {} },
    ]);
  });

  test("a cancelled call is not answered; a ping does not wait for calls; calls are answered after the end of input", async () => {
    const cancel = notification("notifications/cancelled", { requestId: 1 });
    const answers = await exchange([topologyCall(1), cancel, topologyCall(2), request(3, "ping")]);
    expect(answers.map((answer) => "id" in answer && answer.id)).toEqual([3, 2]);
  });

  test("more calls than run at the same time are all answered", async () => {
    const ids = Array.from({ length: 40 }, (_, n) => n);
    const answers = await exchange(ids.map(topologyCall));
    const answered = answers.map((answer) => Number("id" in answer && answer.id));
    expect(answered.sort((a, b) => a - b)).toEqual(ids);
  });

  test.each([
    [{ GAZETTEER_CREDENTIALS: "reader:wrong" }, /^401: .*correct GAZETTEER_CREDENTIALS/],
    [{ GAZETTEER_URL: "http://127.0.0.1:1" }, /^no response from 127\.0\.0\.1:1 .*correct GAZETTEER_URL$/],
  ])("%j: the error of a call says what to do", async (env, expected) => {
    expect(await exchange([topologyCall(1)], env)).toMatchObject([
      { id: 1, result: { isError: true, content: [{ text: expect.stringMatching(expected) }] } },
    ]);
  });

  test("a connection that is lost in the middle of a response is an error of the call", async () => {
    const broken = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"devices":'),
      },
    });
    const answers = await exchange([topologyCall(1)], { GAZETTEER_URL: `http://127.0.0.1:${broken.port}` });
    broken.stop(true);
    expect(answers).toMatchObject([
      {
        result: {
          isError: true,
          content: [{ text: expect.stringContaining("was lost in the middle of a response") }],
        },
      },
    ]);
  });

  test("a server that is not stored is refused at the start", async () => {
    const { status, stderr } = await runCommand(["mcp", "--server", "lab"], { env: environment() });
    expect([status, stderr]).toEqual([2, expect.stringContaining('"lab"')]);
  });
});
