/**
 * A peer of the `http` source with a large document: `document-server.ts DEVICES PORTS-A-DEVICE HOSTS-A-DEVICE`. It has no
 * entity tags, so that each poll reads, parses and compares everything. Prints `listening on URL`, then `request N` for
 * each response that was read to its end.
 */
import { encodeNetwork } from "./network-document.ts";

const [devices = 0, ports = 0, hosts = 0] = process.argv.slice(2).map(Number);
const bytes = new TextEncoder().encode([...encodeNetwork(devices, ports, devices * hosts)].join(""));
let requests = 0;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch() {
    console.log(`request ${++requests}`);
    return new Response(bytes, { headers: { "content-type": "application/json" } });
  },
});
console.log(`listening on ${server.url.origin}`);
