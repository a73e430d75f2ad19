/** The commands that read, against a service with TLS: which certificates they trust, and which one they send. */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificate, createCertificates } from "../support/certificates.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, spawnCommand, startService } from "../support/service.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder, name);
let service: Service;

beforeAll(async () => {
  createCertificates(folder, ["server"]);
  createCertificate(folder, "ann", { commonName: "ann" });
  writeFileSync(path("users"), "ann:certificate\n");
  service = await startService({
    args: [
      ...["--data", ":memory:", "--demo", "devices=3,hosts=0,churn=0", "--users", path("users")],
      ...[
        "--tls-cert",
        path("server.pem"),
        "--tls-key",
        path("server.key"),
        "--tls-client-ca",
        path("ca.pem"),
      ],
    ],
  });
});

const CREDENTIALS = { GAZETTEER_CREDENTIALS: "reader:secret" };

test("an authority is trusted when it is named", async () => {
  const get = (args: string[]) =>
    runCommand(["get", "devices", "-o", "name", "--url", service.url, ...args], { env: CREDENTIALS });
  const untrusted = await get([]);
  expect(untrusted.status).toBe(1);
  expect(untrusted.stderr).toContain("its certificate is not trusted, or is not of this name");
  const inEnvironment = { ...CREDENTIALS, NODE_EXTRA_CA_CERTS: path("ca.pem") };
  for (const result of [
    await get(["--cacert", path("ca.pem")]),
    await spawnCommand(["get", "devices", "-o", "name", "--url", service.url], { env: inEnvironment }),
  ]) {
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(result.stdout.trimEnd().split("\n")).toHaveLength(3);
  }
  const plain = await runCommand(["get", "devices", "--url", service.url.replace("https", "http")]);
  expect(plain.stderr).toContain("This port expects TLS; use https:// in the address.");
  const half = await get(["--cert", path("ann.pem")]);
  expect(half).toMatchObject({ status: 2, stderr: expect.stringContaining("--cert and --key go together") });
  const missing = await get(["--cacert", path("none.pem")]);
  expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining("none.pem cannot be read") });
});

test("login stores the paths, and a certificate is enough", async () => {
  const env = { XDG_CONFIG_HOME: temporaryFolder() };
  const files = ["--cacert", path("ca.pem"), "--cert", path("ann.pem"), "--key", path("ann.key")];
  const login = await runCommand(["login", service.url, ...files], { env });
  expect(login).toMatchObject({ status: 0, stderr: "" });
  expect(login.stdout).toContain("as the user of the certificate; stored as the current server");
  const stored = JSON.parse(readFileSync(join(env.XDG_CONFIG_HOME, "gazetteer", "servers.json"), "utf8"));
  expect(Object.values(stored.servers)).toEqual([
    { url: service.url, tls: { cacert: path("ca.pem"), cert: path("ann.pem"), key: path("ann.key") } },
  ]);
  for (const args of [
    ["get", "devices", "-o", "name"],
    ["diff", "0"],
  ]) {
    expect(await runCommand(args, { env })).toMatchObject({ status: 0, stderr: "" });
  }
  expect((await runCommand(["servers"], { env })).stdout).toContain(service.url);
});
