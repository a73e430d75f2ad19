/**
 * A child process that is the network: `emulate.ts PORT SHAPE COUNT BEFORE`. Tells on standard output, one JSON object a line,
 * when it began to connect and what it did; obeys `down INDEX` and `up INDEX` (a wire by its number) on standard input.
 * Times are epoch milliseconds with fractions, the same clock for every process of the machine.
 */
import { build, type Pair, torus, tree } from "../../test/openflow/topologies.ts";

const [port = "6653", shape = "tree", count = "100", before = "0"] = process.argv.slice(2);
const switches = Number(count);

export function shapeOf(name: string, size: number): Pair[] {
  if (name === "tree") return tree(size, 4);
  const columns = Math.ceil(Math.sqrt(size));
  if (size % columns === 0) return torus(size / columns, columns);
  // The most nearly square torus of exactly that size.
  const rows = Array.from({ length: columns }, (_, i) => columns - i).find((each) => size % each === 0) ?? 1;
  return torus(rows, size / rows);
}

const now = () => performance.timeOrigin + performance.now();
const tell = (fact: object) => process.stdout.write(`${JSON.stringify(fact)}\n`);

const { net, wires } = build(switches, shapeOf(shape, switches), Number(before));
const names = wires.map(({ a, portA, b, portB }) => [
  `${a.id}/${portA}-${b.id}/${portB}`,
  `${b.id}/${portB}-${a.id}/${portA}`,
]);
tell({ wires: names, first: now() });
// A hundred at a time: a listen backlog is finite.
const all = [...net.switches.values()];
for (let at = 0; at < all.length; at += 100) {
  await Promise.all(all.slice(at, at + 100).map((sw) => sw.connect({ port: Number(port) })));
}
tell({ connected: now() });

for await (const line of console) {
  const [word, index] = line.split(" ");
  const wire = wires[Number(index)];
  if (!wire) continue;
  const { a, portA } = wire;
  tell({ did: word, at: now() });
  a.setPort(portA, word === "up");
}
process.exit(0);
