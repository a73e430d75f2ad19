/**
 * A child process that emulates the network. It reads one command per line from standard input and writes JSON objects,
 * one per line, to standard output:
 *
 *   connect PORT SHAPE COUNT OFFSET   builds a network, writes its cables, connects it, writes the start and end times
 *   down INDEX, up INDEX              sets a cable by its index, writes the time
 *   disconnect                        closes all sessions
 *
 * One process serves a whole measurement, so that it is equally warm for all controllers. Times are epoch milliseconds
 * with fractions, from the same clock in every process.
 */
import {
  type BuiltNetwork,
  buildNetwork,
  type SwitchPair,
  torus,
  tree,
} from "../../test/sources/openflow/topologies.ts";

/** Fewer than the listen backlog of any controller; otherwise the kernel delays connections by a second. */
const PARALLEL_CONNECTIONS = 40;

function createTopology(name: string, size: number): SwitchPair[] {
  if (name === "tree") return tree(size, 4);
  // The torus of exactly that size that is closest to a square.
  const side = Math.ceil(Math.sqrt(size));
  const rows = Array.from({ length: side }, (_, i) => side - i).find((each) => size % each === 0) ?? 1;
  return torus(rows, size / rows);
}

const now = () => performance.timeOrigin + performance.now();
const reply = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function connect(
  port: number,
  shape: string,
  count: number,
  dpidOffset: number,
): Promise<BuiltNetwork> {
  const network = buildNetwork(count, createTopology(shape, count), dpidOffset);
  reply({
    wires: network.wires.map(({ a, portA, b, portB }) => [
      `${a.id}/${portA}-${b.id}/${portB}`,
      `${b.id}/${portB}-${a.id}/${portA}`,
    ]),
  });
  const switches = [...network.net.switches.values()];
  const first = now();
  for (let at = 0; at < switches.length; at += PARALLEL_CONNECTIONS) {
    const group = switches.slice(at, at + PARALLEL_CONNECTIONS);
    await Promise.all(group.map((sw) => sw.connect({ port })));
    await Promise.all(group.map((sw) => sw.helloReceived));
  }
  reply({ first, connected: now() });
  return network;
}

let network: BuiltNetwork | undefined;
for await (const line of console) {
  const [command, ...args] = line.split(" ");
  const [first = 0, , count = 0, dpidOffset = 0] = args.map(Number);
  if (command === "connect") network = await connect(first, args[1] ?? "", count, dpidOffset);
  else if (command === "disconnect") {
    network?.net.disconnect();
    reply({});
  } else {
    const wire = network?.wires[first];
    const at = now();
    wire?.a.setPort(wire.portA, command === "up");
    // Written afterwards, so that the write is not part of the measured time.
    reply({ at });
  }
}
process.exit(0);
