/** `gazetteer get` of single entities, `--watch`, `-o name` and `yaml`, and `diff` with times ago, against a running service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { GAZETTEER, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const ONE = "of:0000000000000001";
const TWO = "of:0000000000000002";
const HOST = "00:00:00:00:00:01/None";
const LINK = `${ONE}/1-${TWO}/2`;
const network = (second: string, hosts: string) => `
devices:
  - { id: "${ONE}", annotations: { name: leaf-1 } }
  - { id: "${TWO}", available: ${second}, annotations: { name: "leaf two" } }
ports:
  - { element: "${ONE}", port: 1, annotations: { portName: eth1 } }
links:
  - { src: { device: "${ONE}", port: 1 }, dst: { device: "${TWO}", port: 2 }, bidirectional: true }
hosts:
  - { mac: "00:00:00:00:00:01", annotations: { name: web }, locations: [{ elementId: "${TWO}", port: 3 }] }
${hosts}
`;
const SECOND_HOST = `  - { mac: "00:00:00:00:00:02", locations: [{ elementId: "${ONE}", port: 4 }] }`;

let service: Service;
const file = join(temporaryFolder(), "network.yaml");
const setNetwork = (second: "true" | "false", hosts = "") => writeFileSync(file, network(second, hosts));
beforeAll(async () => {
  setNetwork("true");
  service = await startService({ args: ["--data", ":memory:", "--file", file] });
});

const environment = () => ({ GAZETTEER_URL: service.url, GAZETTEER_CREDENTIALS: service.credentials });
const gazetteer = async (...args: string[]) => {
  const { status, stdout, stderr } = await runCommand(args, { env: environment() });
  return status === 0 && stderr === "" ? stdout : `${status}: ${stderr}${stdout}`;
};
const get = (...args: string[]) => gazetteer("get", ...args);
const rows = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));

describe("single entities", () => {
  test("a device, a link and a host are tables of one row", async () => {
    const [head, first, ...rest] = rows(await get("devices", ONE));
    expect(head?.slice(0, 3)).toEqual(["ID", "NAME", "TYPE"]);
    expect(first?.slice(0, 2)).toEqual([ONE, "leaf-1"]);
    expect(rest).toEqual([]);
    expect(rows(await get("links", LINK))).toEqual([
      ["FROM", "FROM NAME", "TO", "TO NAME", "TYPE", "STATE"],
      [`${ONE}/1`, "leaf-1/eth1", `${TWO}/2`, "leaf two", "DIRECT", "ACTIVE"],
    ]);
    expect(rows(await get("hosts", HOST))).toEqual([
      ["ID", "NAME", "IP ADDRESSES", "LOCATION", "LOCATION NAME"],
      [HOST, "web", "-", `${TWO}/3`, "leaf two"],
    ]);
  });

  test("what is below an entity is read by further operands", async () => {
    expect(rows(await get("devices", ONE, "ports"))).toEqual([
      ["DEVICE", "DEVICE NAME", "PORT", "NAME", "ENABLED", "TYPE", "MB/S"],
      [ONE, "leaf-1", "1", "eth1", "yes", "copper", expect.any(String)],
    ]);
    expect(rows(await get("devices", "ports"))[1]?.slice(0, 3)).toEqual([ONE, "leaf-1", "1"]);
    expect(rows(await get("topology", "clusters"))).toEqual([
      ["ID", "DEVICES", "LINKS", "ROOT", "ROOT NAME"],
      ["0", "2", "2", ONE, "leaf-1"],
    ]);
    expect(rows(await get("topology", "clusters", "0"))[1]).toEqual(["0", "2", "2", ONE, "leaf-1"]);
    expect(rows(await get("topology", "clusters", "0", "devices"))).toEqual([
      ["ID", "NAME"],
      [ONE, "leaf-1"],
      [TWO, "leaf two"],
    ]);
    expect(rows(await get("topology", "clusters", "0", "links"))).toHaveLength(3);
  });

  test("json and yaml are the entity itself, with query parameters", async () => {
    const device = await (await service.fetch(`/controller/v1/devices/${ONE}`)).json();
    expect(JSON.parse(await get("devices", ONE, "-o", "json"))).toEqual(device);
    expect(parse(await get("devices", ONE, "-o", "yaml"))).toEqual(device);
    expect(JSON.parse(await get("links", LINK, "-o", "json"))).toMatchObject({ id: LINK, type: "DIRECT" });
    expect(await get("devices", ONE, "at=0")).toStartWith("1: gazetteer get: 404: ");
  });

  test("one that does not exist is status 1, a format that it does not have is status 2", async () => {
    for (const output of ["table", "json", "yaml", "name"]) {
      expect(await get("devices", "of:00000000000000ff", "-o", output)).toStartWith(
        "1: gazetteer get: 404: ",
      );
      expect(await get("links", "nowhere", "-o", output)).toStartWith("1: gazetteer get: 404: ");
    }
    expect(await get("hosts", HOST, "-o", "csv")).toBe(
      "2: gazetteer get: -o csv: of one of hosts there is table, wide, name, yaml, json\n",
    );
    expect(await get("topology", "-o", "name")).toStartWith(
      "2: gazetteer get: -o name: of topology there is ",
    );
    expect(await get("links", LINK, "ports")).toStartWith("1: gazetteer get: 404: ");
    expect(await get("topology", "cluster")).toStartWith("1: gazetteer get: 404: ");
  });
});

describe("output", () => {
  test("name is one id for each line, and get takes it", async () => {
    expect(await get("devices", "-o", "name")).toBe(`${ONE}\n${TWO}\n`);
    expect(await get("devices", "limit=1", "-o", "name")).toBe(`${ONE}\n${TWO}\n`);
    for (const resource of ["links", "hosts"]) {
      const [id = ""] = (await get(resource, "-o", "name")).split("\n");
      expect(await get(resource, id, "-o", "name")).toBe(`${id}\n`);
    }
    expect(await get("devices", ONE, "ports", "-o", "name")).toBe(`${ONE}/1\n`);
    expect(await get("topology", "clusters", "0", "devices", "-o", "name")).toBe(`${ONE}\n${TWO}\n`);
  });

  test("yaml is the body, with the lists of all pages", async () => {
    const body = await (await service.fetch("/controller/v1/devices")).json();
    expect(parse(await get("devices", "-o", "yaml"))).toEqual(body);
    expect(parse(await get("devices", "limit=1", "-o", "yaml"))).toEqual(body);
    expect(parse(await get("topology", "-o", "yaml"))).toMatchObject({ devices: 2, links: 2 });
  });

  test("--no-headers leaves out the titles of tables and of CSV", async () => {
    expect(rows(await get("devices", "--no-headers")).map(([id]) => id)).toEqual([ONE, TWO]);
    expect(rows(await get("devices", "-o", "wide", "--no-headers"))).toHaveLength(2);
    const csv = await get("devices", "-o", "csv");
    const withoutHeader = csv.slice(csv.indexOf("\n") + 1);
    expect(await get("devices", "-o", "csv", "--no-headers")).toBe(withoutHeader);
    expect(await get("devices", "-o", "csv", "--no-headers", "limit=1")).toBe(withoutHeader);
  });
});

const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Runs `get … --watch`; `stop` sends SIGINT and returns the exit status. */
function watching(...args: string[]) {
  const child = Bun.spawn([GAZETTEER, "get", ...args], {
    env: { ...process.env, NO_COLOR: "1", ...environment() },
    stdout: "pipe",
    stderr: "pipe",
  });
  children.push(child);
  let text = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) text += decoder.decode(chunk, { stream: true });
  })();
  return {
    seen: (expected: RegExp) =>
      until(() => expected.test(text), { what: `${expected} in ${args.join(" ")}` }),
    async stop() {
      child.kill("SIGINT");
      const status = await child.exited;
      await reading;
      return { status, text, stderr: await new Response(child.stderr).text() };
    },
  };
}

describe("--watch", () => {
  test("shows the list, then a row for every change, until SIGINT", async () => {
    const [hosts, device, names, json, counts] = [
      watching("hosts", "--watch"),
      watching("devices", TWO, "-w", "--no-headers"),
      watching("hosts", "-w", "-o", "name"),
      watching("devices", "available=true", "-w", "-o", "json"),
      watching("topology", "-w"),
    ];
    await Promise.all([
      hosts.seen(/^- +00:00:00:00:00:01\/None +web/m),
      device.seen(new RegExp(`^- +${TWO} +leaf two +SWITCH +yes`)),
      names.seen(/^00:00:00:00:00:01/),
      json.seen(new RegExp(`"id":"${TWO}"`)),
      counts.seen(/^2 +2 +1 +1 /m),
    ]);
    setNetwork("false", SECOND_HOST);
    await Promise.all([
      hosts.seen(new RegExp(`^added +00:00:00:00:00:02/None +- +- +${ONE}/4 +leaf-1$`, "m")),
      device.seen(new RegExp(`^updated +${TWO} +leaf two +SWITCH +no`, "m")),
      names.seen(/^00:00:00:00:00:02\/None\n$/m),
      json.seen(/"event":"removed"/),
      counts.seen(/^2 +2 +2 +\d /m),
    ]);
    setNetwork("true");
    await Promise.all([
      hosts.seen(/^removed +00:00:00:00:00:02/m),
      device.seen(new RegExp(`^updated +${TWO} +leaf two +SWITCH +yes`, "m")),
      json.seen(/"event":"added"/),
    ]);
    const ended = await Promise.all([hosts, device, names, json, counts].map((command) => command.stop()));
    for (const result of ended) expect(result).toMatchObject({ status: 0, stderr: "" });
    const [hostTable = "", deviceTable = "", , events = ""] = ended.map(({ text }) => text);
    expect(hostTable).toMatch(/^EVENT +ID +NAME +IP ADDRESSES +LOCATION +LOCATION NAME\n/);
    expect(hostTable.match(/EVENT/g)).toHaveLength(1);
    expect(deviceTable).not.toContain("EVENT");
    const lines = events.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).event)).toEqual([undefined, undefined, "removed", "added"]);
  });

  test("is refused where there is nothing to follow", async () => {
    expect(await get("devices", "nowhere", "-w")).toBe(
      '1: gazetteer get: 404: there is no device "nowhere"\n',
    );
    expect(await get("devices", ONE, "ports", "-w")).toStartWith("2: gazetteer get: --watch follows a list");
    expect(await get("hosts", "-w", "-o", "csv")).toBe(
      "2: gazetteer get: -o csv: of hosts with --watch there is table, wide, name, yaml, json\n",
    );
  });
});

describe("the past", () => {
  test("--at is a revision, a time or a time ago, and the same as at=", async () => {
    // Revision 0 is the network without anything.
    expect(await get("devices", "--at", "0", "-o", "name")).toBe("0: gazetteer get: no devices\n");
    expect(await get("devices", ONE, "--at", "0s", "-o", "name")).toBe(`${ONE}\n`);
    expect(await get("devices", ONE, "at=0s", "-o", "name")).toBe(`${ONE}\n`);
    expect(await get("devices", "--at", "1w")).toStartWith(
      "1: gazetteer get: 410: at names a state before the oldest",
    );
    expect(await get("devices", "--at", "soon")).toStartWith(
      '2: gazetteer get: "soon" is not a point in time',
    );
    expect(await get("devices", "at=1", "--at", "1")).toBe("2: gazetteer get: at is given twice\n");
    expect(await get("devices", "-w", "--at", "1")).toBe(
      "2: gazetteer get: --watch and --at cannot be combined\n",
    );
    expect(await gazetteer("problems", "at=0s")).toBe(await gazetteer("problems"));
  });

  test("watch starts at a time ago", async () => {
    const { loaded } = await (await service.fetch("/controller/v1/topology?timeline=1")).json();
    const child = Bun.spawn([GAZETTEER, "watch", "since=1w", "-o", "json"], {
      env: { ...process.env, ...environment() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const errors = new Response(child.stderr).text();
    const reader = child.stdout.getReader();
    // The tests before have changed the network.
    const { value } = await reader.read();
    child.kill("SIGINT");
    const [line = ""] = new TextDecoder().decode(value).split("\n");
    expect(JSON.parse(line)).toMatchObject({ revision: loaded.revision + 1 });
    expect(await child.exited).toBe(0);
    expect(await errors).toContain(`gazetteer watch: the history begins at revision ${loaded.revision} `);
  });
});

test("https to a port without TLS is explained", async () => {
  const { host } = new URL(service.url);
  const { status, stderr } = await runCommand(["get", "devices", "--url", `https://${host}`]);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `gazetteer get: no response from ${host} (EPROTO); there is no TLS at that port; if it serves plain HTTP, give http://${host}\n`,
  });
});

test("no message has a full stop before a semicolon", async () => {
  for (const credentials of [undefined, "reader:wrong"]) {
    const env = { GAZETTEER_CREDENTIALS: credentials };
    for (const args of [["get", "devices"], ["watch"], ["problems", "--watch"]]) {
      const { stderr } = await runCommand([...args, "--url", service.url], { env });
      expect(stderr).toMatch(/^gazetteer \w+: 401: [^;]*[^.;]; /);
    }
  }
});

test("cluster status of a single node says that there is no cluster", async () => {
  expect(await gazetteer("cluster", "status", "--url", service.url)).toBe(
    "1: gazetteer cluster: that service is a single node, of no cluster\n",
  );
  expect(await gazetteer("cluster", "apply", "--url", service.url)).toBe(
    "2: gazetteer cluster: apply takes no --url and no --server\n",
  );
});

describe("diff", () => {
  test("a time ago before the history begins after the first load, and says so", async () => {
    const { loaded } = await (await service.fetch("/controller/v1/topology?timeline=1")).json();
    const { status, stdout, stderr } = await runCommand(["diff", "1w", "now"], { env: environment() });
    expect(status).toBe(0);
    const begin = `revision ${loaded.revision} (${new Date(loaded.time).toISOString()})`;
    expect(stderr).toBe(`gazetteer diff: the history begins at ${begin}, less than 1w ago\n`);
    expect(stdout).toStartWith(`from ${begin} to revision `);
    // The devices were there when the source reported for the first time.
    expect(stdout).not.toContain(`+ device ${ONE}`);
    const both = await runCommand(["diff", "2w", "1w", "-o", "json"], { env: environment() });
    expect(both.stderr.trimEnd().split("\n")).toHaveLength(2);
    expect(JSON.parse(both.stdout)).toMatchObject({
      from: loaded,
      to: loaded,
      changes: [],
    });
  });

  test("a time ago within the history, a revision and a time are taken as they are", async () => {
    for (const args of [["0"], ["0", "now"], ["1", "0s"]]) {
      const { status, stderr } = await runCommand(["diff", ...args], { env: environment() });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    }
  });
});
