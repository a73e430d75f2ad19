import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config.ts";
import { checkClusterFiles } from "./cross-checks.ts";
import { renderFault } from "./faults.ts";
import { renderSettings } from "./show.ts";

const load = (servers: string, keys: Readonly<Record<string, string>> = {}) =>
  loadConfig({ environment: { GAZETTEER_CLUSTER_SERVERS: servers, ...keys } });
function faultsOf(servers: string, keys: Readonly<Record<string, string>> = {}): string[] {
  const loaded = load(servers, keys);
  return loaded.ok ? [] : loaded.faults.map(renderFault);
}

const SECRET = { GAZETTEER_CLUSTER_SECRET_FILE: "/etc/gazetteer/secret" };
const CREDENTIALS = { GAZETTEER_CLUSTER_CREDENTIALS_FILE: "/etc/gazetteer/creds" };

describe("servers on this machine need a secret, and nothing else", () => {
  for (const servers of ["nats://127.0.0.1:4222,nats://localhost", "nats://[::1]:4222", "nats://127.3.2.1"]) {
    test(servers, () => {
      expect(faultsOf(servers, SECRET)).toEqual([]);
      expect(faultsOf(servers)).toEqual([
        expect.stringContaining("a cluster needs cluster.secretFile, the same on all nodes"),
      ]);
    });
  }
});

describe("servers on other machines", () => {
  const accepted: [title: string, servers: string, keys: Readonly<Record<string, string>>][] = [
    ["TLS and a credentials file", "tls://n1,tls://n2", { ...SECRET, ...CREDENTIALS }],
    ["TLS and a user", "tls://gaz:p%40ss@n1,tls://gaz:p%40ss@n2", SECRET],
    [
      "TLS by its authority",
      "nats://10.0.0.1",
      { ...SECRET, ...CREDENTIALS, GAZETTEER_CLUSTER_TLS_CA: "ca.pem" },
    ],
    [
      "a client certificate",
      "nats://10.0.0.1",
      { ...SECRET, GAZETTEER_CLUSTER_TLS_CERT: "c.pem", GAZETTEER_CLUSTER_TLS_KEY: "k.pem" },
    ],
    [
      "no TLS where that is allowed",
      "nats://gaz:pw@10.0.0.1",
      { ...SECRET, GAZETTEER_CLUSTER_ALLOW_PLAINTEXT: "true" },
    ],
  ];
  for (const [title, servers, keys] of accepted) {
    test(`accepted: ${title}`, () => expect(faultsOf(servers, keys)).toEqual([]));
  }

  const refused: [title: string, servers: string, keys: Readonly<Record<string, string>>, message: string][] =
    [
      [
        "a credentials file and a user",
        "tls://gaz:pw@n1,tls://gaz:pw@n2",
        { ...SECRET, ...CREDENTIALS },
        "excludes a user in the addresses of cluster.servers",
      ],
      [
        "no TLS",
        "nats://gaz:pw@10.0.0.1:4222",
        SECRET,
        "nats://10.0.0.1:4222 is another machine, and the network would be sent to it unencrypted; write tls://",
      ],
      [
        "no TLS to one of them",
        "nats://127.0.0.1,nats://n2",
        { ...SECRET, ...CREDENTIALS },
        "[1]: nats://n2 is another machine",
      ],
      [
        "the service's own allowPlaintext",
        "nats://n1",
        { ...SECRET, ...CREDENTIALS, GAZETTEER_ALLOW_PLAINTEXT: "true" },
        "or cluster.allowPlaintext: true",
      ],
      [
        "no credentials",
        "tls://n1",
        SECRET,
        "anybody who reaches it could write; give cluster.credentialsFile",
      ],
      [
        "no credentials, plain",
        "nats://n1",
        { ...SECRET, GAZETTEER_CLUSTER_ALLOW_PLAINTEXT: "true" },
        "give cluster.credentialsFile",
      ],
      [
        "no secret",
        "tls://n1,tls://n2",
        CREDENTIALS,
        "a cluster needs cluster.secretFile, the same on all nodes",
      ],
      ["different users", "tls://a:x@n1,tls://b:y@n2", SECRET, "must be the same in all addresses"],
      [
        "a certificate without its key",
        "tls://n1",
        { ...SECRET, GAZETTEER_CLUSTER_TLS_CERT: "c" },
        "needs cluster.tls.key",
      ],
      ["a password that is not encoded", "tls://gaz:top/secret@n1", SECRET, "must be encoded"],
    ];
  for (const [title, servers, keys, message] of refused) {
    test(`refused: ${title}`, () => {
      const faults = faultsOf(servers, keys);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(message);
      expect(faults[0]).not.toMatch(/pw@|:x@|:y@|secret@|\n/);
    });
  }
});

test("no password of an address is shown, however it is written", () => {
  for (const servers of [
    "tls://gaz:hunter2@n1",
    "tls://gaz:hun%40ter2@n1,tls://gaz:hun@ter2@n1",
    "tls://ter2@n1",
    "nats://gaz:hun/ter2@n1",
  ]) {
    const loaded = load(servers, SECRET);
    expect(renderSettings(loaded.settings)).not.toContain("ter2");
    if (!loaded.ok) expect(loaded.faults.map(renderFault).join()).not.toContain("ter2");
  }
});

describe("the files", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gazetteer-cluster-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const check = (keys: Readonly<Record<string, string>>) =>
    checkClusterFiles(load("nats://127.0.0.1", keys).settings);

  test("a file that others can read is a warning; one that cannot be read, and a short secret, are faults", async () => {
    const [secret, credentials] = [join(folder, "secret"), join(folder, "creds")];
    writeFileSync(secret, "0123456789abcdef\n", { mode: 0o600 });
    writeFileSync(credentials, "x\n");
    chmodSync(credentials, 0o644);
    const both = { GAZETTEER_CLUSTER_SECRET_FILE: secret, GAZETTEER_CLUSTER_CREDENTIALS_FILE: credentials };
    expect(await check(both)).toEqual({
      faults: [],
      warnings: ["cluster.credentialsFile: creds can be read by other users of this machine (chmod 600)"],
    });
    writeFileSync(secret, "short\n");
    rmSync(credentials);
    expect((await check(both)).faults.map(renderFault)).toEqual([
      "GAZETTEER_CLUSTER_CREDENTIALS_FILE: creds cannot be read (ENOENT)",
      expect.stringContaining("shorter than 16 characters"),
    ]);
  });
});
