/** Single things, and the details that clients of ONOS read: a device, its ports, a host, the clusters. */
import { portId } from "../../model/ids.ts";
import { clusterOf, type Reading } from "../../view/view.ts";
import { JSON_TYPE } from "../answer.ts";
import type { Target } from "../path.ts";
import { Problem, quoted } from "../problem.ts";
import type { Query } from "../query/query.ts";
import { select } from "../query/select.ts";
import type { Representation } from "../represent.ts";
import { type ReadContext, readingOf } from "./context.ts";
import { bytesOf } from "./json.ts";

type ItemTarget = Exclude<Target, { read: "list" | "topology" }>;

export function itemRead(context: ReadContext, target: ItemTarget, query: Query): Representation {
  const reading = readingOf(context, query);
  const { marks } = reading;
  const { text, mark } = found(reading, target, marks);
  return {
    key: `${JSON.stringify(target)} ${query.fingerprint}`,
    mark,
    revision: reading.revision,
    contentType: JSON_TYPE,
    make: () => ({ pieces: bytesOf([text]) }),
  };
}

function found(
  reading: Reading,
  target: ItemTarget,
  marks: Reading["marks"],
): { text: string; mark: number } {
  switch (target.read) {
    case "item":
      return { text: one(reading, target.kind, target.id), mark: marks[target.kind] };
    case "devicePorts": {
      const device = one(reading, "devices", target.id);
      const text = `${device.slice(0, -1)},"ports":[${portsOf(reading, target.id).join(",")}]}`;
      return { text, mark: Math.max(marks.devices, marks.ports) };
    }
    case "clusters": {
      const clusters = reading.graph.clusters().map(clusterOf);
      return { text: JSON.stringify({ clusters }), mark: marks.graph };
    }
    case "cluster":
      return { text: clusterText(reading, target), mark: Math.max(marks.graph, marks.links) };
  }
}

function one(reading: Reading, kind: "devices" | "hosts", id: string): string {
  const text = reading.get(kind, id);
  if (text !== undefined) return text;
  const hint = kind === "hosts" ? "; a host's id is MAC/VLAN, such as 00:00:00:00:00:01/None" : "";
  throw new Problem("not-found", `There is no ${kind.slice(0, -1)} ${quoted(id)}${hint}.`);
}

function portsOf(reading: Reading, id: string): string[] {
  const prefix = { test: (value: object) => "element" in value && value.element === id };
  const ids = [[portId(id, ""), portId(id, "\uffff")] as const];
  return [...select(reading, "ports", [{ ...prefix, ids }])].map(({ text }) => text);
}

function clusterText(reading: Reading, { n, part }: Extract<Target, { read: "cluster" }>): string {
  const clusters = reading.graph.clusters();
  const members = clusters[n];
  if (!members) {
    const last = clusters.length - 1;
    throw new Problem(
      "not-found",
      `There is no cluster ${n}; ${last < 0 ? "there are none" : `they count from 0 to ${last}`}.`,
    );
  }
  if (part === "devices") return JSON.stringify({ devices: members.devices });
  if (part === "links") {
    const links = members.links.map((id) => reading.get("links", id)).filter((text) => text !== undefined);
    return `{"links":[${links.join(",")}]}`;
  }
  return JSON.stringify(clusterOf(members, n));
}
