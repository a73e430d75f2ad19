/** `gazetteer get` against a running service: tables, bodies in other formats, and failures. */

import { beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type CommandResult, GAZETTEER, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const NETWORK = `
devices:
  - { id: "of:0000000000000001", type: SWITCH, mfr: "Nicira, Inc.", hw: "交換機", annotations: { name: leaf-1, managementAddress: 10.0.0.1 } }
  - { id: "of:0000000000000002", type: ROUTER, available: false, sw: "a\\nb", annotations: { name: "\\e[31mred\\u202e" } }
links:
  - { src: { device: "of:0000000000000001", port: 1 }, dst: { device: "of:0000000000000002", port: 2 } }
hosts:
  - { mac: "00:00:00:00:00:01", vlan: 10, ipAddresses: [10.0.0.9, "2001:db8::9"], locations: [{ elementId: "of:0000000000000001", port: 3 }] }
`;

/** Besides line ends. */
const UNSAFE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

let service: Service;
beforeAll(async () => {
  const file = join(temporaryFolder(), "network.yaml");
  writeFileSync(file, NETWORK);
  service = await startService({
    args: ["--data", ":memory:", "--file", file, "--alias", "onos"],
    credentials: "ann:p:ä",
  });
});

const get = (...args: string[]): Promise<CommandResult> =>
  runCommand(["get", ...args, "--url", service.url], { env: { GAZETTEER_CREDENTIALS: "ann:p:ä" } });

describe("tables", () => {
  test("devices are aligned, with control characters escaped", async () => {
    const { status, stdout, stderr } = await get("devices");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [head = "", first = "", second = "", ...rest] = stdout.split("\n");
    expect(head).toMatch(/^ID +NAME +TYPE +AVAILABLE +SINCE +ADDRESS$/);
    expect(first).toMatch(/^of:0000000000000001 {2}leaf-1 +SWITCH +yes +\S+Z +10\.0\.0\.1$/);
    expect(second).toMatch(/^of:0000000000000002 {2}\\u001b\[31mred\\u202e +ROUTER +no +\S+Z +-$/);
    expect(rest).toEqual([""]);
  });

  test("wide has more columns, aligned by display width", async () => {
    const [head = "", first = "", second = ""] = (await get("devices", "-o", "wide")).stdout.split("\n");
    expect(head).toMatch(
      /^ID +NAME +TYPE +AVAILABLE +SINCE +ADDRESS +MAKER +HARDWARE +SOFTWARE +SERIAL +ROLE +SOURCES +FIRST SEEN +LAST CHANGED$/,
    );
    expect(first).toMatch(/ Nicira, Inc\. +交換機 +unknown +/);
    expect(second).toMatch(/ unknown +unknown +a\\u000ab /);
    const column = (line: string, text: string) => Bun.stringWidth(line.slice(0, line.indexOf(text)));
    expect(column(first, "交換機")).toBe(column(head, "HARDWARE"));
    expect(column(second, "a\\u000ab")).toBe(column(head, "SOFTWARE"));
  });

  test("links, hosts and topology have their columns, with the names of devices beside their ids", async () => {
    expect((await get("links")).stdout.split("\n")[1]).toMatch(
      /^of:0000000000000001\/1 +leaf-1 +of:0000000000000002\/2 +\\u001b\[31mred\\u202e +DIRECT +ACTIVE$/,
    );
    expect((await get("hosts")).stdout.split("\n")[1]).toMatch(
      /^00:00:00:00:00:01\/10 +- +10\.0\.0\.9, 2001:db8::9 +of:0000000000000001\/3 +leaf-1$/,
    );
    expect((await get("topology")).stdout.split("\n")[1]).toMatch(/^2 +1 +1 +\d+ +\S+Z$/);
  });

  test("NAME=VALUE are query parameters; fields selects the columns", async () => {
    const { stdout } = await get("devices", "available=false", "fields=id,type");
    expect(stdout).toBe("ID                   TYPE\nof:0000000000000002  ROUTER\n");
    expect((await get("devices", "type=OLT")).stdout.trimEnd().split("\n")).toHaveLength(1);
  });

  test("all pages are fetched and joined, in every format", async () => {
    for (const output of ["table", "json", "ndjson", "csv", "prometheus", "ansible"]) {
      const whole = await get("devices", "-o", output);
      const paged = await get("devices", "limit=1", "-o", output);
      const parse = (text: string) => (output === "prometheus" ? JSON.parse(text) : text);
      expect(parse(paged.stdout)).toEqual(parse(whole.stdout));
    }
  });

  /** What a terminal gets from `get`. */
  async function runOnTerminal(args: readonly string[], env: Record<string, string | undefined> = {}) {
    let text = "";
    const child = Bun.spawn([GAZETTEER, "get", ...args, "--url", service.url], {
      env: { ...process.env, NO_COLOR: undefined, GAZETTEER_CREDENTIALS: "ann:p:ä", ...env },
      terminal: {
        cols: 200,
        data: (_terminal, bytes) => {
          text += new TextDecoder().decode(bytes);
        },
      },
    });
    await child.exited;
    child.terminal?.close();
    return text;
  }

  test("what the service rendered, and messages, are escaped on a terminal; a pipe gets the bytes as they are", async () => {
    for (const args of [
      ["devices", "-o", "json"],
      ["devices", "-o", "ndjson"],
      ["devices", "-o", "csv"],
      ["topology", "-o", "graphml"],
      ["topology", "-o", "netjson"],
      ["devices", "\u202eof:9\u009b"],
    ]) {
      const shown = await runOnTerminal(args);
      expect([args, shown.match(/\\u202e/)?.[0], shown.match(UNSAFE)]).toEqual([args, "\\u202e", null]);
    }
    expect((await get("devices", "-o", "json")).stdout).toContain("red\u202e");
  });

  test("colour only on a terminal, and not where NO_COLOR is set", async () => {
    const coloured = await runOnTerminal(["devices"]);
    expect(coloured).toContain("\u001b[32myes");
    expect(coloured).toContain("2 devices");
    expect(coloured).not.toContain("\u001b[31mred");
    expect(await runOnTerminal(["devices"], { NO_COLOR: "1" })).not.toContain("\u001b[");
  });
});

describe("bodies", () => {
  test("json is the body of the response", async () => {
    const { stdout } = await get("devices", "-o", "json");
    expect(stdout.trimEnd()).toBe((await (await service.fetch("/controller/v1/devices")).text()).trimEnd());
  });

  test("other formats are selected by name", async () => {
    expect((await get("devices", "-o", "csv")).stdout.split("\n")[0]).toContain("id,type,");
    expect((await get("hosts", "-o", "ndjson")).stdout.trimEnd().split("\n")).toHaveLength(1);
    expect((await get("topology", "--output=dot")).stdout).toContain("graph");
  });

  test("an inventory is one of devices, not of changes", async () => {
    const { status, stdout, stderr } = await get("devices", "since=0", "-o", "ansible");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe("gazetteer get: -o ansible: the query selects no list of devices\n");
    expect((await get("devices", "leaf-1", "-o", "ansible")).stdout).toContain("ansible_host: 10.0.0.1\n");
  });

  test("a closed pipe is not a failure", async () => {
    const child = Bun.spawn(
      ["sh", "-c", `'${GAZETTEER}' get devices -o json --url ${service.url} | head -c 1`],
      {
        env: { ...process.env, GAZETTEER_CREDENTIALS: "ann:p:ä" },
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    expect(await new Response(child.stdout).text()).toBe("{");
    expect(await new Response(child.stderr).text()).toBe("");
  });
});

describe("address and credentials", () => {
  const statusOf = async (url: string, env: Record<string, string> = {}) =>
    (await runCommand(["get", "topology", "--url", url], { env })).status;

  test("the URL may contain credentials, the path of the interface, or only the host", async () => {
    const { host } = new URL(service.url);
    const inUrl = `http://ann:p%3A%C3%A4@${host}`;
    expect(await statusOf(inUrl)).toBe(0);
    expect(await statusOf(`${inUrl}/controller/v1/`, { GAZETTEER_CREDENTIALS: "not:used" })).toBe(0);
    expect(await statusOf(`${inUrl}/onos/v1`)).toBe(0);
    expect(await statusOf(host, { GAZETTEER_CREDENTIALS: "ann:p:ä" })).toBe(0);
  });

  test("a refused request prints one line and exits with status 1", async () => {
    const failureLine = async (args: string[], env: Record<string, string>) => {
      const { status, stdout, stderr } = await runCommand(["get", ...args], { env });
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      return stderr;
    };
    const validCredentials = { GAZETTEER_CREDENTIALS: "ann:p:ä" };
    expect(await failureLine(["devices", "--url", service.url], {})).toContain(
      "GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>'",
    );
    expect(
      await failureLine(["devices", "--url", service.url], { GAZETTEER_CREDENTIALS: "ann:x" }),
    ).toContain("401");
    expect(await failureLine(["devices", "tpye=SWITCH", "--url", service.url], validCredentials)).toContain(
      "tpye",
    );
    expect(await failureLine(["devices", "--url", "http://127.0.0.1:1"], validCredentials)).toContain(
      "is the service running there?",
    );
  });
});

test.each(["table", "json", "csv"])(
  "-o %s: a connection that is lost in the middle is no bug",
  async (output) => {
    const broken = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"devices":'),
      },
    });
    const args = ["get", "devices", "-o", output, "--url", `http://127.0.0.1:${broken.port}`];
    const { status, stderr } = await runCommand(args);
    broken.stop(true);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^gazetteer get: the connection to 127\.0\.0\.1:\d+ was lost .* not complete: try again\n$/,
    );
  },
);

test("a body larger than the buffer of a pipe is complete", async () => {
  const args = ["--data", ":memory:", "--demo", "devices=20,hosts=3000,churn=0"];
  await using large = await startService({ args });
  const isLoaded = async () => (await (await large.fetch("/controller/v1/topology")).json()).hosts === 3000;
  await until(isLoaded, { what: "all hosts" });
  const body = await (await large.fetch("/controller/v1/hosts")).text();
  const env = { ...process.env, GAZETTEER_CREDENTIALS: large.credentials };
  const command = `"${GAZETTEER}" get hosts -o json --url ${large.url} | { sleep 0.5; cat; }`;
  const piped = () => new Response(Bun.spawn(["sh", "-c", command], { env }).stdout).text();
  for (const text of await Promise.all([piped(), piped(), piped(), piped()])) expect(text).toBe(`${body}\n`);
});
