/** Examples of the bodies of the service's own paths, by the name of their schema. */
import { CHANGED_MS, CONNECTED_MS, FIRST, LOG, SECOND } from "./example-network.ts";

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  Liveness: { status: "alive" },
  ClusterOverview: {
    name: "default",
    nodes: [
      {
        name: "a",
        node: "a.5f0c12aa",
        url: "http://10.0.0.1:8181",
        version: "0.1.0",
        revision: 9,
        lag: 0,
        sources: ["demo"],
        held: ["demo"],
        since: 1794704401000,
        ageSeconds: 1,
      },
    ],
    leases: [{ source: "demo", node: "a" }],
    engine: {
      stream: "GAZETTEER_default",
      replicas: 3,
      servers: [
        { name: "n1", state: "leader" },
        { name: "n2", state: "current", lag: 0 },
        { name: "n3", state: "current", lag: 0 },
      ],
      messages: 12,
      bytes: 4096,
    },
    snapshots: [{ revision: 8, time: 1794704408000, bytes: 2048 }],
  },
  MapSettings: {
    links: [{ name: "Shell", kind: "device", url: "ssh://{managementAddress}" }],
    views: [{ name: "Core", state: "type=ROUTER", arrangement: { pins: [{ device: FIRST, x: 0, y: 0 }] } }],
    metrics: [{ name: "Utilisation", unit: "%", max: 100, intervalSeconds: 30 }],
  },
  MetricValues: {
    time: CHANGED_MS,
    series: 3,
    unknownSeries: 1,
    unknownDevices: ["10.0.0.9"],
    values: { [`${FIRST}/1-${SECOND}/1`]: 42.5 },
  },
  Readiness: {
    status: "ready",
    version: "0.1.0",
    revision: 8,
    logId: LOG,
    sources: [
      {
        name: "openflow",
        kind: "openflow",
        status: "synced",
        since: CONNECTED_MS,
        lastSyncedAt: CHANGED_MS,
        restarts: 0,
        entities: { devices: 2, ports: 4, links: 2, hosts: 1 },
      },
    ],
    storage: { bytes: 69_632, snapshots: 1, oldest: 0, oldestTime: CONNECTED_MS },
  },
  OpenApiDocument: { openapi: "3.1.0", info: { title: "Gazetteer" } },
};
