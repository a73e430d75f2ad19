/** HTTP over TLS on real sockets: long pipelines with backpressure, half-closed connections, large bodies, closing. */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { LiveTlsIdentity } from "../../src/http1/tls-identity.ts";
import { AUTHORIZATION, type Harness, openHarness } from "../api/harness.ts";
import { createCertificates } from "../support/certificates.ts";
import { temporaryFolder } from "../support/folder.ts";
import { until } from "../support/until.ts";

const folder = temporaryFolder();
const read = (name: string) => readFileSync(join(folder, name), "utf8");
beforeAll(() => createCertificates(folder, ["server"]));

const openTlsHarness = () =>
  openHarness({ tls: new LiveTlsIdentity({ cert: read("server.pem"), key: read("server.key") }) });

interface Client {
  readonly socket: TLSSocket;
  received(): string;
  /** The server has sent close_notify, so that the end is no truncation. */
  isEnded(): boolean;
}

async function openClient({ port }: Harness): Promise<Client> {
  let text = "";
  let isEnded = false;
  const socket = connect({ port, host: "127.0.0.1", ca: read("ca.pem") });
  socket.on("data", (data) => {
    text += data;
  });
  socket.on("end", () => {
    isEnded = true;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", () => resolve());
    socket.once("error", reject);
  });
  return { socket, received: () => text, isEnded: () => isEnded };
}

const request = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, "Host: x", `Authorization: ${AUTHORIZATION}`, ...headers, "", ""].join("\r\n");
const countOf = (text: string, part: string) => text.split(part).length - 1;

test("20,000 pipelined requests are all served, also when the client reads only after it has sent them", async () => {
  await using harness = await openTlsHarness();
  const client = await openClient(harness);
  client.socket.pause();
  client.socket.write(request("/controller/v1/topology").repeat(20_000));
  const responses = () => harness.server.metrics().gazetteer_http_requests_total ?? {};
  await until(() => responses()['read="topology",status="200"'], { what: "the first response" });
  client.socket.resume();
  await until(() => countOf(client.received(), "HTTP/1.1 200 OK") === 20_000, { what: "all responses" });
  client.socket.destroy();
});

test("a large body arrives whole, and the connection ends in order after the last response", async () => {
  await using harness = await openTlsHarness();
  const client = await openClient(harness);
  client.socket.write(request("/openapi.json") + request("/openapi.json", "Connection: close"));
  await until(client.isEnded, { what: "the end" });
  const [, first = "", second = ""] = client.received().split("HTTP/1.1 200 OK");
  const bodyOf = (response: string) => response.slice(response.indexOf("\r\n\r\n") + 4);
  expect(JSON.parse(bodyOf(first))).toEqual(JSON.parse(bodyOf(second)));
  client.socket.destroy();
});

test("a client that has closed its side still gets its responses", async () => {
  await using harness = await openTlsHarness();
  const client = await openClient(harness);
  client.socket.end(request("/controller/v1/devices") + request("/controller/v1/topology"));
  await until(client.isEnded, { what: "the end" });
  expect(countOf(client.received(), "HTTP/1.1 200 OK")).toBe(2);
  client.socket.destroy();
});
