/**
 * No secret of a source is ever shown: every option that a kind's schema marks as a secret is given, as text, in a file and
 * in a variable, to sources that start and fail. Then the text must be in no output of the service and in no response. A
 * new kind with secrets fails here until it has entries.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import Type from "typebox";
import { schemaOption } from "../../../src/lib/schema-faults.ts";
import { SOURCE_KINDS } from "../../../src/sources/registry.ts";
import { runCommand } from "../../support/command.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type CommandResult, type Service, spawnCommand, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const SECRET = "hunter2-secret-text";
const CREDENTIALS = `ann:${SECRET}`;
/** As it may be found: the text, and the credentials in a header. */
const FORMS = [SECRET, Buffer.from(CREDENTIALS).toString("base64"), Buffer.from(SECRET).toString("hex")];
const VARIABLE = "SOURCE_SECRET";

/** Each secret option of each kind, in one of its entries. `url` is a peer that repeats what it gets. */
const entriesOf = (url: string): Readonly<Record<string, readonly Record<string, unknown>[]>> => ({
  controller: [{ url: `${url}/onos/v1`, credentials: CREDENTIALS, intervalSeconds: 1 }],
  exec: [{ command: ["/bin/false"], environment: { A: SECRET } }],
  http: [{ url: `${url}/network.json`, credentials: CREDENTIALS, intervalSeconds: 1 }],
  restconf: [{ url: `${url}/rests`, credentials: CREDENTIALS }],
  snmp: [
    { targets: ["127.0.0.1:1"], community: SECRET },
    {
      targets: ["127.0.0.1:1"],
      v3: {
        user: "ann",
        authProtocol: "sha",
        authPassword: SECRET,
        privProtocol: "aes",
        privPassword: SECRET,
      },
    },
  ],
});

/** The paths of the options that are secrets, such as `v3.authPassword`. */
function secretsOf(schema: Type.TSchema, path = ""): string[] {
  if (schemaOption(schema, "secret") === true) return [path.slice(1)];
  if (!Type.IsObject(schema)) return [];
  return Object.entries(schema.properties).flatMap(([name, property]) =>
    secretsOf(property, `${path}.${name}`),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The paths of the values that contain the secret. */
function pathsOf(value: unknown, path = ""): string[] {
  if (!isRecord(value)) return JSON.stringify(value).includes(SECRET) ? [path.slice(1)] : [];
  return Object.entries(value).flatMap(([name, item]) => pathsOf(item, `${path}.${name}`));
}

/** The same entry with `…File` or `…Env` in place of each secret text. */
function withReferences(
  value: unknown,
  reference: (name: string, text: string) => [string, string],
): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const isText = typeof item === "string" && item.includes(SECRET);
      if (name === "environment") return reference(name, `A=${SECRET}`);
      return isText ? reference(name, item) : [name, withReferences(item, reference)];
    }),
  );
}

let folder: string;
let peer: Server;
let url: string;
let sources: Record<string, unknown>[];
let config: string;
const env = { [VARIABLE]: SECRET, [`${VARIABLE}_CREDENTIALS`]: CREDENTIALS };
const kindsWithSecrets = Object.entries(SOURCE_KINDS)
  .map(([kind, { options }]) => ({ kind, secrets: secretsOf(options) }))
  .filter(({ secrets }) => secrets.length > 0);

/** A peer that repeats the request in the status line, a header and the body of its refusal. */
async function startEcho(): Promise<string> {
  peer = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const text = data.toString("latin1").replaceAll("\r\n", " ");
      socket.end(`HTTP/1.1 500 ${text}\r\nX-Echo: ${text}\r\nContent-Type: ${text}\r\n\r\n${text}`);
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
  const address = peer.address();
  return typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
}

beforeAll(async () => {
  folder = temporaryFolder();
  url = await startEcho();
  const entries = entriesOf(url);
  let files = 0;
  const inFile = (name: string, text: string): [string, string] => {
    const file = join(folder, `secret-${++files}`);
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    return [`${name}File`, file];
  };
  const inVariable = (name: string, text: string): [string, string] => [
    `${name}Env`,
    text === SECRET ? VARIABLE : `${VARIABLE}_CREDENTIALS`,
  ];
  sources = kindsWithSecrets.flatMap(({ kind }) =>
    (entries[kind] ?? []).flatMap((entry, i) => [
      { type: kind, name: `${kind}-${i}-text`, ...entry },
      { type: kind, name: `${kind}-${i}-file`, ...Object(withReferences(entry, inFile)) },
      { type: kind, name: `${kind}-${i}-env`, ...Object(withReferences(entry, inVariable)) },
    ]),
  );
  config = join(folder, "g.json");
  const accessLog = join(folder, "access.log");
  writeFileSync(config, JSON.stringify({ accessLog, aliases: ["onos"], sources }));
});
afterAll(() => peer.close());

const expectNone = (text: string) => {
  for (const form of FORMS) expect(text).not.toContain(form);
};
const expectNoneIn = ({ stdout, stderr }: CommandResult) => expectNone(stdout + stderr);

describe("every secret of every kind", () => {
  for (const { kind, secrets } of kindsWithSecrets) {
    test(`${kind}: the entries of this test have ${secrets.join(", ")}`, () => {
      const given = (entriesOf("http://h")[kind] ?? []).flatMap((entry) => pathsOf(entry));
      expect(
        secrets.filter((path) => !given.some((item) => item === path || item.startsWith(`${path}.`))),
      ).toEqual([]);
    });
  }

  test("is not shown by check", async () => {
    expectNoneIn(await runCommand(["check", config], { env }));
    const shown = await runCommand(["check", "--show", config], { env });
    expectNoneIn(shown);
    expect(shown.stdout).toContain("credentials: (hidden)");
    expect(shown.stdout).toContain(`credentialsFile: ${folder}`);
    expect(shown.stdout).toContain(`credentialsEnv: ${VARIABLE}_CREDENTIALS`);
  });

  test("is not shown by a service whose sources fail", async () => {
    const service: Service = await startService({
      args: ["--config", config, "--data", ":memory:"],
      env,
    });
    // A source of agents that do not answer may have nothing to report instead.
    await until(
      async () => {
        const { sources: all } = await (await service.fetch("/readyz")).json();
        const isDone = ({ error, status }: Record<string, unknown>) =>
          error !== undefined || status === "synced";
        return all.length === sources.length && all.every(isDone);
      },
      // Each of them starts a thread.
      { what: "the sources to fail", deadlineMs: 150_000 },
    );
    const { sources: all } = await (await service.fetch("/readyz")).json();
    expect(all.filter(({ kind, error }: Record<string, unknown>) => kind !== "snmp" && !error)).toEqual([]);
    expect(JSON.stringify(all)).not.toMatch(/is not set|cannot be read/);
    for (const path of [
      "/readyz",
      "/healthz",
      "/metrics",
      "/openapi.json",
      "/controller/v1/devices",
      "/controller/v1/topology",
      "/controller/v1/topology/problems",
      "/onos/v1/devices",
      `/controller/v1/devices?q=${VARIABLE}`,
      "/nothing",
    ]) {
      const response = await service.fetch(path);
      expectNone(JSON.stringify([...response.headers]) + (await response.text()));
    }
    // These are the reasons as the log has them.
    const failed = await (await service.fetch("/controller/v1/topology/problems?kind=source-failed")).json();
    expect(failed.problems.length).toBeGreaterThan(sources.length / 2);
    process.kill(service.pid, "SIGHUP");
    await until(() => service.stderr().includes("configuration reloaded"), { what: "the reload" });
    expect(await service.stop()).toBe(0);
    expectNone(service.stdout() + service.stderr());
    expectNone(readFileSync(join(folder, "access.log"), "utf8"));
  });
});

describe("a fault of a secret does not show it", () => {
  const controller = (options: object) => ({ type: "controller", url: "http://127.0.0.1:1/", ...options });
  const check = async (entry: object) => {
    const file = join(folder, "fault.json");
    writeFileSync(file, JSON.stringify({ sources: [entry] }));
    const result = await runCommand(["check", "--show", file], { env });
    expectNoneIn(result);
    return result;
  };
  const cases: [string, () => object, RegExp][] = [
    [
      "two of three",
      () => ({ credentials: CREDENTIALS, credentialsEnv: `${VARIABLE}_CREDENTIALS` }),
      /credentialsEnv: only one of credentials and credentialsEnv can be given/,
    ],
    ["not text", () => ({ credentials: [CREDENTIALS] }), /credentials: must be text/],
    [
      "in place of a variable",
      () => ({ credentialsEnv: CREDENTIALS }),
      /must be the name of an environment variable/,
    ],
    ["a misspelt key", () => ({ credential: CREDENTIALS }), /unknown key; did you mean credentials\?/],
    ["in the URL", () => ({ url: `http://${CREDENTIALS}@h/` }), /must be an http or https URL without/],
    [
      "an unset variable",
      () => ({ credentialsEnv: "NOT_SET" }),
      /the environment variable NOT_SET is not set/,
    ],
    [
      "an unreadable file",
      () => ({ credentialsFile: join(folder, "none") }),
      /none cannot be read \(ENOENT\)/,
    ],
  ];
  for (const [name, options, message] of cases) {
    test(name, async () => {
      const { status, stderr } = await check(controller(options()));
      expect(stderr).toMatch(message);
      expect(status).toBe(2);
    });
  }

  test("a file that others can read is a warning", async () => {
    const file = join(folder, "open");
    writeFileSync(file, CREDENTIALS);
    chmodSync(file, 0o644);
    const { stderr } = await check(controller({ credentialsFile: file }));
    expect(stderr).toContain(
      "warning: source controller: credentialsFile: open can be read by other users of this machine (chmod 600)",
    );
  });

  test("a file with other text than credentials is an error without the text", async () => {
    const file = join(folder, "no-colon");
    writeFileSync(file, SECRET, { mode: 0o600 });
    const { stderr } = await check(controller({ credentialsFile: file }));
    expect(stderr).toContain("credentialsFile: no-colon must be <USERNAME>:<PASSWORD>");
  });

  test("a relative path is relative to the configuration file, and in the environment to the working folder", async () => {
    writeFileSync(join(folder, "relative"), CREDENTIALS, { mode: 0o600 });
    const sources = [controller({ credentialsFile: "relative" })];
    writeFileSync(join(folder, "r.json"), JSON.stringify({ sources }));
    const elsewhere = await spawnCommand(["check", join(folder, "r.json")], { env, cwd: "/" });
    expect(elsewhere.stderr).not.toContain("relative");
    const inEnvironment = { ...env, GAZETTEER_SOURCES: JSON.stringify(sources) };
    const { stderr } = await spawnCommand(["check"], { env: inEnvironment, cwd: "/" });
    expect(stderr).toContain("credentialsFile: relative cannot be read (ENOENT)");
  });
});
