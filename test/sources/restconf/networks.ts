/** Small bodies for the tests, in the form that OpenDaylight has. */

/** Switches in a row: port 2 of each is connected to port 1 of the next. */
export function rowOf(count: number): { topology: object; inventory: object } {
  const ids = Array.from({ length: count }, (_, i) => `openflow:${i + 1}`);
  const ports = ["1", "2", "LOCAL"];
  const link = (from: string, to: string) => ({
    "link-id": from,
    source: { "source-node": nodeOf(from), "source-tp": from },
    destination: { "dest-node": nodeOf(to), "dest-tp": to },
  });
  return {
    topology: {
      topology: [
        {
          "topology-id": "flow:1",
          node: ids.map((id) => ({
            "node-id": id,
            "termination-point": ports.map((port) => ({ "tp-id": `${id}:${port}` })),
          })),
          link: ids.slice(1).flatMap((id, i) => {
            const [a, b] = [`${ids[i]}:2`, `${id}:1`];
            return [link(a, b), link(b, a)];
          }),
        },
      ],
    },
    inventory: {
      node: ids.map((id) => ({
        id,
        "flow-node-inventory:manufacturer": "Nicira, Inc.",
        "flow-node-inventory:serial-number": "None",
        "flow-node-inventory:description": id.replace("openflow:", "s"),
        "node-connector": ports.map((port) => ({
          id: `${id}:${port}`,
          "flow-node-inventory:name": `${id.replace("openflow:", "s")}-eth${port}`,
          "flow-node-inventory:current-speed": 10_000_000,
          "flow-node-inventory:configuration": "",
          "flow-node-inventory:state": { "link-down": false, blocked: false, live: true },
        })),
      })),
    },
  };
}

const nodeOf = (point: string) => point.slice(0, point.lastIndexOf(":"));
