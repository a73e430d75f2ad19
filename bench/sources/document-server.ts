/**
 * A peer of the `http` source with a large document: `document-server.ts DEVICES PORTS-A-DEVICE HOSTS-A-DEVICE`. It has no
 * entity tags, so that each poll reads, parses and compares everything. Prints `listening on URL`, then `request N` for
 * each response that was read to its end.
 */
export {};

const [devices = 0, ports = 0, hosts = 0] = process.argv.slice(2).map(Number);

const id = (n: number): string => `of:${n.toString(16).padStart(16, "0")}`;
const mac = (n: number): string => `02${n.toString(16).padStart(10, "0").replace(/../g, ":$&")}`;

function* encodeNetwork(): Generator<string> {
  yield '{"devices":[';
  for (let n = 0; n < devices; n++) {
    const list = Array.from({ length: ports }, (_, port) => ({
      port: port + 1,
      isEnabled: true,
      portSpeed: 10_000,
    }));
    const device = { id: id(n), type: "SWITCH", annotations: { name: `switch-${n}` }, ports: list };
    yield (n > 0 ? "," : "") + JSON.stringify(device);
  }
  yield '],"hosts":[';
  for (let n = 0; n < devices * hosts; n++) {
    const ipAddresses = [`10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`];
    const location = { elementId: id(n % devices), port: (n % ports) + 1 };
    yield (n > 0 ? "," : "") + JSON.stringify({ mac: mac(n), ipAddresses, location });
  }
  yield "]}";
}

const bytes = new TextEncoder().encode([...encodeNetwork()].join(""));
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
