/** What a listener knows of a connection, on real sockets, also of clients that reset the connection behind their request. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificates } from "../../test/support/certificates.ts";
import { temporaryFolder } from "../../test/support/folder.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { until } from "../../test/support/until.ts";
import type { Handler } from "./handler.ts";
import { HttpListener } from "./listener.ts";
import type { Response } from "./response.ts";
import { createHandshakeCounts } from "./tls.ts";
import { LiveTlsIdentity } from "./tls-identity.ts";

const LIMITS = {
  maxUrlBytes: 8192,
  maxHeadBytes: 16_384,
  maxConnections: 100,
  maxAnonymousConnections: 50,
  minReadBytesPerSecond: 0,
  idleTimeoutMs: 60_000,
  headTimeoutMs: 10_000,
  lingerTimeoutMs: 2_000,
};
const folder = temporaryFolder();
const socketPath = join(folder, "socket");
const empty: Response = { status: 204, headers: {}, body: null };

/** The target, the address and the flag of each request, in the order in which they were handled. */
const handled: string[] = [];
/** Set by a test: while a request is handled, the event loop creates the first file and waits for the second one. */
let waitFor: { readonly started: string; readonly goOn: string } | undefined;
const handler: Handler = {
  handle({ target }, connection) {
    if (waitFor) {
      writeFileSync(waitFor.started, "");
      while (!existsSync(waitFor.goOn)) Bun.sleepSync(1);
    }
    handled.push(`${target} ${connection.remoteAddress} ${connection.isOwnProcess}`);
    return empty;
  },
  onParseError: () => ({ ...empty, status: 400 }),
  onError: () => ({ ...empty, status: 500 }),
};
const listener = new HttpListener(handler, LIMITS, new ManualClock());
let ports = { plain: 0, tls: 0 };

beforeAll(async () => {
  await createCertificates(folder, ["server"]);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const identity = new LiveTlsIdentity({ cert: read("server.pem"), key: read("server.key") });
  const address = { hostname: "127.0.0.1", port: 0, reusePort: false };
  ports = {
    plain: listener.listen(address).port,
    tls: listener.listen(address, { identity, counts: createHandshakeCounts() }).port,
  };
  listener.listen({ unix: socketPath });
});
afterAll(() => listener.stop(0));

const FORGED = "GET /forged HTTP/1.1\r\nHost: x\r\nForwarded: for=203.0.113.9\r\n\r\n";

test("a connection that was reset before it is accepted is closed: its request has no address", async () => {
  handled.length = 0;
  // The event loop of this process stands still until the client has ended.
  const client = `
    const socket = await Bun.connect({ hostname: "127.0.0.1", port: ${ports.plain}, socket: { data() {} } });
    socket.write(${JSON.stringify(FORGED)});
    socket.terminate();`;
  for (let n = 0; n < 3; n++) expect(Bun.spawnSync([process.execPath, "-e", client]).exitCode).toBe(0);
  await fetch(`http://127.0.0.1:${ports.plain}/after`);
  expect(handled).toEqual(["/after 127.0.0.1 false"]);
});

test.each(["plain", "tls"] as const)(
  "a connection that is reset while its request is handled keeps its address: %s",
  async (kind) => {
    handled.length = 0;
    waitFor = { started: join(folder, `${kind}-started`), goOn: join(folder, `${kind}-go-on`) };
    const client = `
    import { existsSync, writeFileSync } from "node:fs";
    const tls = ${kind === "tls"} ? { tls: { rejectUnauthorized: false } } : {};
    const { promise: opened, resolve: open } = Promise.withResolvers();
    const handlers = ${kind === "tls"} ? { handshake: open, data() {} } : { open, data() {} };
    const socket = await Bun.connect({ hostname: "127.0.0.1", port: ${ports[kind]}, ...tls, socket: handlers });
    await opened;
    socket.write(${JSON.stringify(FORGED)});
    while (!existsSync(${JSON.stringify(waitFor.started)})) await Bun.sleep(1);
    socket.terminate();
    writeFileSync(${JSON.stringify(waitFor.goOn)}, "");`;
    const child = Bun.spawn([process.execPath, "-e", client]);
    await until(() => handled.length === 1, { what: "the request" });
    waitFor = undefined;
    await child.exited;
    expect(handled).toEqual(["/forged 127.0.0.1 false"]);
  },
);

test("only the Unix socket is that of the service's own processes", async () => {
  handled.length = 0;
  await fetch("http://localhost/own", { unix: socketPath });
  await fetch(`https://127.0.0.1:${ports.tls}/tls`, { tls: { rejectUnauthorized: false } });
  expect(handled).toEqual(["/own  true", "/tls 127.0.0.1 false"]);
});
