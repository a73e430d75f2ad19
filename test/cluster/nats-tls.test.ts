/** TLS between a node and real NATS servers: who is believed to be the server, and what is sent to one that has no TLS. */
import { beforeAll, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { join } from "node:path";
import { connectNats, type NatsOptions } from "../../src/cluster/nats/nats-client.ts";
import { createCertificate, createCertificates } from "../support/certificates.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type NatsServers, startNatsServers } from "../support/nats-servers.ts";

const LOGIN = 'authorization { user: gazetteer, password: "p@ss" }';
const folder = temporaryFolder();
const file = (name: string) => join(folder, name);
beforeAll(() => {
  createCertificates(folder, ["server", "client"]);
  createCertificates(folder, ["stranger"], "other");
  createCertificate(folder, "elsewhere", { extensions: "subjectAltName=DNS:elsewhere.example,IP:10.9.8.7" });
});

const startServer = (certificate: string, more = ""): Promise<NatsServers> =>
  startNatsServers({
    config: `${LOGIN}\ntls { cert_file: "${file(`${certificate}.pem`)}", key_file: "${file(`${certificate}.key`)}", ${more} }`,
  });

async function connects(
  nats: NatsServers,
  options: Partial<NatsOptions>,
  host = "127.0.0.1",
): Promise<boolean> {
  const url = `tls://gazetteer:p%40ss@${host}:${nats.servers[0]?.port}`;
  const client = await connectNats({ servers: [url], clientName: "test", ...options });
  const { limits } = await client.manager.getAccountInfo();
  await client.close();
  return limits !== undefined;
}

test("a server with a certificate of the authority, by address and by name", async () => {
  await using nats = await startServer("server");
  const tls = { ca: file("ca.pem") };
  expect(await connects(nats, { tls })).toBe(true);
  expect(await connects(nats, { tls }, "localhost")).toBe(true);
  await expect(connects(nats, { tls: { ca: file("other.pem") } })).rejects.toThrow(
    "cannot connect to NATS at tls://127.0.0.1",
  );
  await expect(connects(nats, {})).rejects.toThrow("cannot connect to NATS");
});

test("not a server with a certificate for another name", async () => {
  await using nats = await startServer("elsewhere");
  const tls = { ca: file("ca.pem") };
  await expect(connects(nats, { tls })).rejects.toThrow("cannot connect to NATS");
  await expect(connects(nats, { tls }, "localhost")).rejects.toThrow("cannot connect to NATS");
});

test("the certificate of the node", async () => {
  await using nats = await startServer("server", `ca_file: "${file("ca.pem")}", verify: true`);
  const tls = (name: string) => ({ ca: file("ca.pem"), cert: file(`${name}.pem`), key: file(`${name}.key`) });
  expect(await connects(nats, { tls: tls("client") })).toBe(true);
  await expect(connects(nats, { tls: tls("stranger") })).rejects.toThrow("cannot connect to NATS");
});

describe("a server that offers no TLS gets nothing", () => {
  const cases: [title: string, scheme: string, options: Partial<NatsOptions>][] = [
    ["tls://", "tls", {}],
    ["tls.ca", "nats", { tls: { ca: file("ca.pem") } }],
  ];
  for (const [title, scheme, options] of cases) {
    test(title, async () => {
      let received = "";
      const server = createServer((socket) => {
        socket.on("data", (chunk) => {
          received += chunk;
        });
        socket.on("error", () => {});
        socket.write(`INFO {"server_id":"x","version":"2.9.0","proto":1,"max_payload":1048576}\r\n`);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      const servers = [`${scheme}://gazetteer:hunter2@127.0.0.1:${port}`];
      const failure = await connectNats({ servers, clientName: "test", ...options }).catch((error) => error);
      expect(String(failure)).toContain("cannot connect to NATS");
      expect(String(failure)).not.toContain("hunter2");
      expect(received).toBe("");
      server.close();
    });
  }
});
