/** HTTPS with curl and openssl: the certificate and its reload, protocol versions and ciphers, client certificates. */
import { beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { createCertificate, createCertificates } from "../support/certificates.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { processIdsOf } from "./connection.ts";
import { waitForReaders } from "./start-with-readers.ts";

const API = "/controller/v1";
const folder = temporaryFolder();
const path = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(path(name), "utf8");

beforeAll(() => {
  createCertificates(folder, ["first", "second"]);
  createCertificates(folder, ["stranger"], "other-ca");
});

/** The files that a service uses, with the content of others. */
function useCertificate(name: string, as: string): void {
  for (const extension of ["pem", "key"]) {
    copyFileSync(path(`${name}.${extension}`), path(`${as}.tmp`));
    renameSync(path(`${as}.tmp`), path(`${as}.${extension}`));
  }
}

const tlsArgs = (name: string) => ["--tls-cert", path(`${name}.pem`), "--tls-key", path(`${name}.key`)];

async function run(program: string, ...args: string[]): Promise<{ status: number; output: string }> {
  const child = Bun.spawn([program, ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, output: stdout + stderr };
}

/** The status and the body of a response to curl, which verifies the certificate. */
async function curl(
  service: Service,
  target: string,
  ...args: string[]
): Promise<[status: number, body: string]> {
  const { output } = await run(
    "curl",
    ...["-sS", "--cacert", path("ca.pem"), "-w", "\n%{http_code}", ...args, service.url + target],
  );
  const end = output.lastIndexOf("\n");
  return [Number(output.slice(end + 1)), output.slice(0, end)];
}

const withCertificate = (name: string) => ["--cert", path(`${name}.pem`), "--key", path(`${name}.key`)];

async function openTlsConnection(service: Service, client?: string): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(
    {
      port: Number(new URL(service.url).port),
      host: "127.0.0.1",
      ca: read("ca.pem"),
      ...(client !== undefined && { cert: read(`${client}.pem`), key: read(`${client}.key`) }),
    },
    resolve,
  );
  socket.on("error", reject);
  await promise;
  return socket;
}

describe("a service with a certificate", () => {
  test("is reached by curl, which verifies the certificate", async () => {
    await using service = await startService({ args: ["--data", ":memory:", ...tlsArgs("first")] });
    expect(service.url).toStartWith("https://127.0.0.1:");
    expect(service.stdout()).toContain(`The map: ${service.url}/`);
    const [status, body] = await curl(service, `${API}/topology`, "-u", service.credentials);
    expect({ status, topology: JSON.parse(body) }).toMatchObject({ status: 200, topology: { devices: 0 } });
    const { status: failed } = await run("curl", "-sS", service.url);
    expect(failed).toBe(60); // curl: the certificate cannot be verified
    // The last response of a connection is complete.
    const [closed] = await curl(
      service,
      "/openapi.json",
      "-u",
      service.credentials,
      "-H",
      "Connection: close",
    );
    const [old] = await curl(service, "/openapi.json", "-u", service.credentials, "--http1.0");
    expect([closed, old]).toEqual([200, 200]);
  });

  test("speaks TLS 1.2 and 1.3 with forward secrecy and authenticated encryption only", async () => {
    for (const key of ["ecdsa", "rsa"] as const) {
      createCertificate(folder, key, { key });
      await using service = await startService({ args: ["--data", ":memory:", ...tlsArgs(key)] });
      const negotiate = async (...args: string[]) => {
        const address = service.url.replace("https://", "");
        const { output } = await run("openssl", "s_client", "-connect", address, ...args);
        return /Cipher is (\S+)/.exec(output)?.[1] ?? "no answer";
      };
      const all = "ALL:COMPLEMENTOFALL:@SECLEVEL=0";
      expect(await negotiate("-tls1", "-cipher", all)).toBe("(NONE)");
      expect(await negotiate("-tls1_1", "-cipher", all)).toBe("(NONE)");
      expect(await negotiate("-tls1_3")).toStartWith("TLS_");
      const accepted = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].map(
        (cipher) => `ECDHE-${key.toUpperCase()}-${cipher}`,
      );
      for (const cipher of accepted) expect(await negotiate("-tls1_2", "-cipher", cipher)).toBe(cipher);
      const others = [all, ...accepted.map((cipher) => `!${cipher}`)].join(":");
      expect(await negotiate("-tls1_2", "-cipher", others)).toBe("(NONE)");
    }
  });

  test("changes its certificate with the files, and no connect fails meanwhile", async () => {
    useCertificate("first", "live");
    await using service = await startService({ args: ["--data", ":memory:", ...tlsArgs("live")] });
    const isConnecting = { value: true };
    const serials = new Set<string>();
    const open = await openTlsConnection(service);
    const connecting = (async () => {
      for (; isConnecting.value; ) {
        const socket = await openTlsConnection(service);
        serials.add(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      }
    })();
    await until(() => serials.size === 1, { what: "the first certificate" });
    const expiry = async () =>
      (await metrics(service)).get("gazetteer_tls_certificate_expiry_timestamp_seconds");
    const before = await expiry();
    createCertificate(folder, "longer", { days: 39 });
    useCertificate("longer", "live");
    await until(() => serials.size === 2, { what: "the second certificate" });
    expect(await expiry()).toBeGreaterThan(Number(before) + 8 * 86_400);
    // A key that does not belong to the certificate, then no certificate at all.
    copyFileSync(path("second.key"), path("live.key"));
    await until(() => service.stderr().includes("is not the key of the certificate in"), { what: "the log" });
    writeFileSync(path("live.pem"), "nothing");
    await until(() => service.stderr().includes("has no certificate in PEM"), { what: "the log" });
    const first = await openTlsConnection(service);
    expect(serials).toContain(first.getPeerCertificate().serialNumber);
    first.destroy();
    useCertificate("second", "live");
    await until(() => serials.size === 3, { what: "the third certificate" });
    isConnecting.value = false;
    await connecting; // throws when a connect has failed
    // A connection keeps the certificate that it began with.
    open.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    const response = await new Promise((resolve) => open.once("data", resolve));
    expect(String(response)).toStartWith("HTTP/1.1 200 OK");
    open.destroy();
  });

  test("warns from 14 days before the certificate expires", async () => {
    createCertificate(folder, "short", { days: 13 });
    createCertificate(folder, "long", { days: 16 });
    await using soon = await startService({ args: ["--data", ":memory:", ...tlsArgs("short")] });
    await using later = await startService({ args: ["--data", ":memory:", ...tlsArgs("long")] });
    expect(soon.stderr()).toMatch(/warn certificate expires soon file=\S+ expires=\S+ days=12/);
    expect(later.stderr()).not.toContain("expires soon");
  });

  test("does not start with a pair that cannot be used; check says why", async () => {
    const mismatched = ["--tls-cert", path("first.pem"), "--tls-key", path("second.key")];
    for (const [args, message] of [
      [mismatched, `is not the key of the certificate in ${path("first.pem")}`],
      [["--tls-cert", path("none.pem"), "--tls-key", path("first.key")], "none.pem: cannot be read"],
      [["--tls-cert", path("first.key"), "--tls-key", path("first.key")], "has no certificate in PEM"],
      [["--tls-cert", path("first.pem"), "--tls-key", path("first.pem")], "has no private key in PEM"],
      [["--tls-cert", path("first.pem")], "--tls-cert: needs tls.key"],
      [["--tls-key", path("first.key")], "--tls-key: needs tls.cert"],
      [["--tls-client-ca", path("ca.pem")], "--tls-client-ca: needs tls.cert and tls.key"],
      [[...tlsArgs("first"), "--tls-client-ca", path("first.key")], "has no certificate in PEM"],
    ] as const) {
      const env = { GAZETTEER_CREDENTIALS: "reader:secret" };
      for (const command of ["serve", "check"]) {
        const result = await runCommand([command, "--data", ":memory:", "--port", "0", ...args], { env });
        expect(result.stderr).toContain(message);
        expect(result.status).not.toBe(0);
      }
    }
  });
});

async function metrics(service: Service, ...args: string[]): Promise<Map<string, number>> {
  const [, text] = await curl(service, "/metrics", ...(args.length > 0 ? args : ["-u", service.credentials]));
  return new Map(
    text.split("\n").flatMap((line) => {
      const [name, value] = line.split(" ");
      return name && value && name !== "#" ? [[name, Number(value)] as const] : [];
    }),
  );
}

describe("without TLS", () => {
  test("an address that other machines can reach is refused, unless that is allowed", async () => {
    const env = { GAZETTEER_CREDENTIALS: "reader:secret" };
    for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
      for (const command of ["serve", "check"]) {
        const result = await runCommand([command, "--data", ":memory:", "--port", "0", "--host", host], {
          env,
        });
        expect(result.stderr).toContain(`--host: other machines can reach ${host}`);
        expect(result.status).toBe(2);
      }
    }
    const proxies = { GAZETTEER_TRUSTED_PROXIES: "192.0.2.0/24" };
    for (const [extra, environment] of [
      [["--allow-plaintext"], {}],
      [tlsArgs("first"), {}],
      [[], proxies],
    ] as const) {
      const args = ["--data", ":memory:", "--host", "0.0.0.0", ...extra];
      await using service = await startService({ args, env: environment });
      expect(await service.stop()).toBe(0);
    }
  });
});

describe("client certificates", () => {
  const users = path("users");
  const clientArgs = ["--tls-client-ca", path("ca.pem"), "--users", users];

  beforeAll(async () => {
    createCertificate(folder, "ann", { commonName: "ann" });
    createCertificate(folder, "bob", { commonName: "bob" });
    createCertificate(folder, "nobody", { commonName: "nobody" });
    createCertificate(folder, "server-only", {
      commonName: "ann",
      extensions: "extendedKeyUsage=serverAuth",
    });
    createCertificate(folder, "two-names", { commonName: "ann/CN=bob" });
    createCertificate(folder, "forged", { commonName: "ann", authority: "other-ca" });
    createCertificate(folder, "expired", { commonName: "ann", days: -1 });
    const added = await runCommand(["passwd", users, "ann", "--certificate"]);
    expect(added.stdout).toBe(`${users}: added ann\n`);
    await runCommand(["passwd", users, "bob"], { stdin: "secret\n" });
  });

  test("authenticate the user of their CN; a password beside them must be of the same user", async () => {
    await using service = await startService({
      args: ["--data", ":memory:", ...tlsArgs("first"), ...clientArgs],
      // Authorities that the runtime trusts for its own requests are not trusted for clients.
      env: { NODE_EXTRA_CA_CERTS: path("other-ca.pem") },
    });
    const status = async (...args: string[]) => (await curl(service, `${API}/topology`, ...args))[0];
    expect({
      ann: await status(...withCertificate("ann")),
      bob: await status(...withCertificate("bob")),
      bobWithPassword: await status(...withCertificate("bob"), "-u", "bob:secret"),
      passwordAlone: await status("-u", "bob:secret"),
      nothing: await status(),
      wrongPassword: await status(...withCertificate("bob"), "-u", "bob:wrong"),
      otherUser: await status(...withCertificate("ann"), "-u", "bob:secret"),
      noPasswordUser: await status("-u", "ann:certificate"),
      nobody: await status(...withCertificate("nobody")),
      forged: await status(...withCertificate("forged")),
      forgedWithPassword: await status(...withCertificate("forged"), "-u", "bob:secret"),
      expired: await status(...withCertificate("expired")),
      serverOnly: await status(...withCertificate("server-only")),
      twoNames: await status(...withCertificate("two-names")),
    }).toEqual({
      ann: 200,
      bob: 200,
      bobWithPassword: 200,
      passwordAlone: 200,
      nothing: 401,
      wrongPassword: 401,
      otherUser: 401,
      noPasswordUser: 401,
      nobody: 401,
      forged: 401,
      forgedWithPassword: 401,
      expired: 401,
      serverOnly: 401,
      twoNames: 401,
    });
    const [, problem] = await curl(service, "/", ...withCertificate("ann"), "-u", "bob:secret");
    expect(JSON.parse(problem).detail).toBe(
      "The client certificate and the Authorization header are of different users.",
    );
  });

  test("with reader processes: in each of them, for responses of the main process too, until the user is removed", async () => {
    useCertificate("first", "shared");
    const own = path("own-users");
    copyFileSync(users, own);
    await using service = await startService({
      args: [
        ...["--data", ":memory:", "--readers", "3", "--users", own, ...tlsArgs("shared")],
        ...["--tls-client-ca", path("ca.pem")],
      ],
    });
    await waitForReaders(service);
    expect(processIdsOf(service)).toHaveLength(3);
    // The kernel chooses the process of a connection: with 40 of them every process has some.
    const streams = await Promise.all(Array.from({ length: 40 }, () => openStream(service, "ann")));
    for (let i = 0; i < 20; i++) {
      expect((await curl(service, `${API}/topology`, ...withCertificate("ann")))[0]).toBe(200);
      // Served by the main process.
      expect((await curl(service, "/openapi.json", ...withCertificate("ann")))[0]).toBe(200);
    }
    // The name of the user in the header counts from the service's own processes only.
    const spoofed = ["-H", "gazetteer-relayed-user: bob"];
    expect((await curl(service, "/openapi.json", ...spoofed))[0]).toBe(401);

    useCertificate("second", "shared");
    await until(() => service.stderr().includes("certificate read"), { what: "the reload" });
    const isSecond = async () => {
      const socket = await openTlsConnection(service);
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber === new X509Certificate(read("second.pem")).serialNumber;
    };
    await until(async () => (await Promise.all(Array.from({ length: 30 }, isSecond))).every(Boolean), {
      what: "the second certificate in all processes",
    });

    writeFileSync(own, read("users").replace(/^ann:.*\n/m, ""));
    await until(() => streams.every(({ isEnded }) => isEnded()), { what: "the streams to end" });
    await until(async () => (await curl(service, "/openapi.json", ...withCertificate("ann")))[0] === 401, {
      what: "ann to be refused",
    });
    const completed = 'gazetteer_tls_handshakes_total{result="completed"}';
    const countOfAll = async () => (await metrics(service, "-u", "bob:secret")).get(completed) ?? 0;
    await until(async () => (await countOfAll()) > 100, { what: "the handshakes of all processes" });
  });

  test("another authority ends the connections that were made with certificates of the one before", async () => {
    copyFileSync(path("ca.pem"), path("trusted.pem"));
    await using service = await startService({
      args: [
        ...["--data", ":memory:", "--users", users, ...tlsArgs("first")],
        ...["--tls-client-ca", path("trusted.pem")],
      ],
    });
    const stream = await openStream(service, "ann");
    copyFileSync(path("other-ca.pem"), path("trusted.pem"));
    await until(stream.isEnded, { what: "the stream to end" });
    expect((await curl(service, `${API}/topology`, ...withCertificate("ann")))[0]).toBe(401);
    expect((await curl(service, `${API}/topology`, ...withCertificate("forged")))[0]).toBe(200);
  });
});

/** An event stream of a user with a certificate. */
async function openStream(service: Service, client: string): Promise<{ isEnded: () => boolean }> {
  const socket = await openTlsConnection(service, client);
  let isClosed = false;
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  socket.on("close", () => {
    isClosed = true;
  });
  socket.write(`GET ${API}/topology?format=events HTTP/1.1\r\nHost: x\r\n\r\n`);
  await until(() => text.includes("event: synced"), { what: "the snapshot" });
  // The last chunk is empty.
  return { isEnded: () => isClosed || text.endsWith("\r\n0\r\n\r\n") };
}
