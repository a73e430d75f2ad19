import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { SchemaFault } from "../lib/schema-faults.ts";
import { checkSecretFiles, findSecretFaults, parseCredentials, readSecret, secretOptions } from "./secret.ts";

const Options = Type.Object(
  {
    ...secretOptions("community", "The community."),
    v3: Type.Optional(
      Type.Object({ ...secretOptions("authPassword", "The password.") }, { additionalProperties: false }),
    ),
    targets: Type.Optional(Type.Array(Type.Object({ ...secretOptions("password", "The password.") }))),
  },
  { additionalProperties: false },
);
type Options = Type.Static<typeof Options>;
const options = (values: Options): Options => values;

const SECRET = "hunter2-and-more";
const VARIABLE = "GAZETTEER_TEST_SECRET_VARIABLE";
let folder = "";
const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "secret-"));
  process.env[VARIABLE] = SECRET;
  process.env[`${VARIABLE}_EMPTY`] = "";
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  delete process.env[VARIABLE];
  delete process.env[`${VARIABLE}_EMPTY`];
});

describe("a secret is read", () => {
  const cases: [string, () => Options, string | undefined][] = [
    ["from nowhere", () => ({}), undefined],
    ["from the option", () => ({ community: SECRET }), SECRET],
    ["from a variable", () => ({ communityEnv: VARIABLE }), SECRET],
    ["from a file", () => ({ communityFile: file("a", SECRET) }), SECRET],
    ["without the newline at the end", () => ({ communityFile: file("b", `${SECRET}\n`) }), SECRET],
    ["without CR LF at the end", () => ({ communityFile: file("c", `${SECRET}\r\n`) }), SECRET],
    ["with all other white space", () => ({ communityFile: file("d", ` ${SECRET} \n\n`) }), ` ${SECRET} \n`],
    ["of 64 KiB", () => ({ communityFile: file("e", "x".repeat(65_536)) }), "x".repeat(65_536)],
  ];
  for (const [name, given, value] of cases) {
    test(name, async () => {
      const values = given();
      expect(Compile(Options).Check(values)).toBe(true);
      expect(await readSecret(values, "community")).toEqual({ ok: true, value });
    });
  }

  test("again at each use", async () => {
    const given = options({ communityFile: file("rotated", "one") });
    expect(await readSecret(given, "community")).toEqual({ ok: true, value: "one" });
    file("rotated", "two");
    expect(await readSecret(given, "community")).toEqual({ ok: true, value: "two" });
  });
});

describe("a secret that cannot be read", () => {
  const cases: [string, () => Options, string][] = [
    [
      "a missing file",
      () => ({ communityFile: join(folder, "none") }),
      "communityFile: none cannot be read (ENOENT)",
    ],
    [
      "a folder",
      () => ({ communityFile: join(folder, "folder") }),
      "communityFile: folder is not a regular file",
    ],
    ["a pipe", () => ({ communityFile: join(folder, "pipe") }), "communityFile: pipe is not a regular file"],
    ["an endless file", () => ({ communityFile: "/dev/zero" }), "communityFile: zero is not a regular file"],
    ["an empty file", () => ({ communityFile: file("empty", "\n") }), "communityFile: empty is empty"],
    [
      "a large file",
      () => ({ communityFile: file("large", SECRET.repeat(10_000)) }),
      "communityFile: large is larger than 65536 bytes",
    ],
    [
      "a file that is not text",
      () => ({ communityFile: file("binary", new Uint8Array([0x61, 0xff])) }),
      "communityFile: binary is not UTF-8 text",
    ],
    [
      "an unset variable",
      () => ({ communityEnv: "GAZETTEER_TEST_UNSET" }),
      "communityEnv: the environment variable GAZETTEER_TEST_UNSET is not set",
    ],
    [
      "an empty variable",
      () => ({ communityEnv: `${VARIABLE}_EMPTY` }),
      `communityEnv: the environment variable ${VARIABLE}_EMPTY is empty`,
    ],
  ];
  beforeAll(() => {
    mkdirSync(join(folder, "folder"));
    expect(Bun.spawnSync(["mkfifo", join(folder, "pipe")]).exitCode).toBe(0);
  });
  for (const [name, given, message] of cases) {
    test(name, async () => {
      expect(await readSecret(given(), "community")).toEqual({ ok: false, message });
    });
  }
});

describe("faults of the options", () => {
  const cases: [Options, SchemaFault[]][] = [
    [{ community: SECRET }, []],
    [{ communityEnv: VARIABLE, v3: { authPassword: SECRET } }, []],
    [
      { community: SECRET, communityEnv: VARIABLE },
      [
        {
          path: ["communityEnv"],
          message: "only one of community and communityEnv can be given",
          atKey: true,
        },
      ],
    ],
    [
      { v3: { authPasswordFile: "a", authPasswordEnv: VARIABLE } },
      [
        {
          path: ["v3", "authPasswordEnv"],
          message: "only one of authPasswordFile and authPasswordEnv can be given",
          atKey: true,
        },
      ],
    ],
    [
      { targets: [{ passwordEnv: VARIABLE }, { passwordEnv: "GAZETTEER_TEST_UNSET" }] },
      [
        {
          path: ["targets", 1, "passwordEnv"],
          message: "the environment variable GAZETTEER_TEST_UNSET is not set",
        },
      ],
    ],
  ];
  for (const [given, faults] of cases) {
    test(JSON.stringify(given), () => expect(findSecretFaults(Options, given)).toEqual(faults));
  }
});

test("check reports each file that cannot be read, and those that others can read", async () => {
  const open = file("open", SECRET);
  chmodSync(open, 0o644);
  const report = await checkSecretFiles(Options, {
    communityFile: join(folder, "none"),
    v3: { authPasswordFile: open },
    targets: [{ passwordFile: file("closed", SECRET) }],
  });
  expect(report).toEqual({
    faults: [{ path: ["communityFile"], message: "none cannot be read (ENOENT)" }],
    warnings: ["authPasswordFile: open can be read by other users of this machine (chmod 600)"],
  });
});

test("credentials without a colon are a fault, wherever they are", async () => {
  const Credentials = Type.Object({ ...secretOptions("credentials", "The credentials.") });
  const message = "must be <USERNAME>:<PASSWORD>";
  expect(findSecretFaults(Credentials, { credentials: SECRET })).toEqual([
    { path: ["credentials"], message },
  ]);
  expect(findSecretFaults(Credentials, { credentialsEnv: VARIABLE })).toEqual([
    { path: ["credentialsEnv"], message },
  ]);
  const credentialsFile = file("no-colon", SECRET);
  expect((await checkSecretFiles(Credentials, { credentialsFile })).faults).toEqual([
    { path: ["credentialsFile"], message: `no-colon ${message}` },
  ]);
});

test("credentials are a name and a password", () => {
  expect(parseCredentials("onos:ro:cks")).toEqual({
    ok: true,
    username: "onos",
    password: "ro:cks",
    authorization: `Basic ${btoa("onos:ro:cks")}`,
  });
  for (const text of ["onos", ":rocks", "", "a:b\nc", "a\0:b"]) expect(parseCredentials(text).ok).toBe(false);
});
