/**
 * A child process that is the network, obeying one command a line on standard input and answering with JSON objects, one
 * a line, on standard output:
 *
 *   connect PORT SHAPE COUNT BEFORE   builds it, tells its wires, connects, and tells when it began and when it was done
 *   down INDEX, up INDEX              a wire by its number; tells when
 *   leave                             ends all sessions
 *
 * One process serves a whole measurement, so that it is as warm for the first controller as for the last. Times are epoch
 * milliseconds with fractions, the same clock for every process of the machine.
 */
import {
  type BuiltNetwork,
  buildNetwork,
  type SwitchPair,
  torus,
  tree,
} from "../../test/sources/openflow/topologies.ts";

/** Connections that wait to be taken: fewer than anybody's listen backlog, or the kernel delays the rest by a second. */
const AT_ONCE = 40;

function shapeOf(name: string, size: number): SwitchPair[] {
  if (name === "tree") return tree(size, 4);
  // The most nearly square torus of exactly that size.
  const side = Math.ceil(Math.sqrt(size));
  const rows = Array.from({ length: side }, (_, i) => side - i).find((each) => size % each === 0) ?? 1;
  return torus(rows, size / rows);
}

const now = () => performance.timeOrigin + performance.now();
const tell = (fact: object) => process.stdout.write(`${JSON.stringify(fact)}\n`);

async function connect(port: number, shape: string, count: number, before: number): Promise<BuiltNetwork> {
  const built = buildNetwork(count, shapeOf(shape, count), before);
  tell({
    wires: built.wires.map(({ a, portA, b, portB }) => [
      `${a.id}/${portA}-${b.id}/${portB}`,
      `${b.id}/${portB}-${a.id}/${portA}`,
    ]),
  });
  const switches = [...built.net.switches.values()];
  const first = now();
  for (let at = 0; at < switches.length; at += AT_ONCE) {
    const group = switches.slice(at, at + AT_ONCE);
    await Promise.all(group.map((sw) => sw.connect({ port })));
    await Promise.all(group.map((sw) => sw.helloReceived));
  }
  tell({ first, connected: now() });
  return built;
}

let built: BuiltNetwork | undefined;
for await (const line of console) {
  const [word, ...rest] = line.split(" ");
  const [first = 0, , count = 0, before = 0] = rest.map(Number);
  if (word === "connect") built = await connect(first, rest[1] ?? "", count, before);
  else if (word === "leave") {
    built?.net.disconnect();
    tell({});
  } else {
    const wire = built?.wires[first];
    const at = now();
    wire?.a.setPort(wire.portA, word === "up");
    // Told only now: it is no part of what happens in the network.
    tell({ at });
  }
}
process.exit(0);
