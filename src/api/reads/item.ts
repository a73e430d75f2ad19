/** Single things, and the details that clients of ONOS read: a device, its ports, a host, the clusters. */

import { JSON_TYPE } from "../../http1/response.ts";
import { portId } from "../../model/ids.ts";
import type { Query } from "../../query/parse-query.ts";
import { select } from "../../query/select.ts";
import { clusterOf, type NetworkState } from "../../view/view.ts";
import type { Content, Representation } from "../body-renderer.ts";
import { Problem, quoted } from "../problem.ts";
import type { Route } from "../route.ts";
import { type ReadContext, stateFor } from "./read-context.ts";

type ItemTarget = Exclude<Route, { read: "list" | "topology" }>;

export function itemRead(context: ReadContext, target: ItemTarget, query: Query): Representation {
  return new Item(stateFor(context, query), target, query);
}

class Item implements Representation {
  readonly key: string;
  readonly version: number;
  readonly currentVersion?: () => number;
  readonly revision: number;
  readonly contentType = JSON_TYPE;
  readonly #text: string;

  constructor(reading: NetworkState, target: ItemTarget, query: Query) {
    this.key = `one ${query.fingerprint} ${keyOf(target)}`;
    this.version = markOf(reading, target);
    if (query.at === undefined) this.currentVersion = () => markOf(reading, target);
    this.revision = reading.revision;
    // Found here and not in `make`: what is not there must be refused before a condition is looked at.
    this.#text = textOf(reading, target);
  }

  make(): Content {
    return { pieces: this.#text };
  }
}

function keyOf(target: ItemTarget): string {
  switch (target.read) {
    case "item":
      return `${target.kind} ${target.id}`;
    case "devicePorts":
      return `ports of ${target.id}`;
    case "clusters":
      return "clusters";
    case "cluster":
      return `cluster ${target.n} ${target.part}`;
  }
}

function markOf({ marks }: NetworkState, target: ItemTarget): number {
  switch (target.read) {
    case "item":
      return marks[target.kind];
    case "devicePorts":
      return Math.max(marks.devices, marks.ports);
    case "clusters":
      return marks.graph;
    case "cluster":
      return Math.max(marks.graph, marks.links);
  }
}

function textOf(reading: NetworkState, target: ItemTarget): string {
  switch (target.read) {
    case "item":
      return one(reading, target.kind, target.id);
    case "devicePorts": {
      const device = one(reading, "devices", target.id);
      return `${device.slice(0, -1)},"ports":[${portsOf(reading, target.id).join(",")}]}`;
    }
    case "clusters":
      return JSON.stringify({ clusters: reading.graph.clusters().map(clusterOf) });
    case "cluster":
      return clusterText(reading, target);
  }
}

function one(reading: NetworkState, kind: "devices" | "hosts", id: string): string {
  const text = reading.get(kind, id);
  if (text !== undefined) return text;
  const hint = kind === "hosts" ? "; a host's id is MAC/VLAN, such as 00:00:00:00:00:01/None" : "";
  throw new Problem("not-found", `There is no ${kind.slice(0, -1)} ${quoted(id)}${hint}.`);
}

function portsOf(reading: NetworkState, id: string): string[] {
  const ofDevice = {
    test: (value: object) => "element" in value && value.element === id,
    ids: [[portId(id, ""), portId(id, "\uffff")] as const],
  };
  return Array.from(select(reading, "ports", [ofDevice]), ({ text }) => text);
}

function clusterText(reading: NetworkState, { n, part }: Extract<Route, { read: "cluster" }>): string {
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
