/**
 * The first batch of a log as the format 1 wrote it: ids by their exact text, with two spellings of one device, a link and
 * a host that are held back for the spelling of their device, the port type `odu`, and ports with empty annotations.
 */
import { Database } from "bun:sqlite";
import { openEmbeddedLog } from "../../src/log/embedded.ts";
import type { Batch, LogEntry, StoreKind } from "../../src/log/log.ts";

const TRACKING = {
  firstSeen: "2026-01-01T00:00:00.000Z",
  lastChanged: "2026-01-01T00:00:00.000Z",
  sources: ["first"],
  revision: 1,
};
const device = (id: string, more: object = {}) => ({
  id,
  type: "SWITCH",
  available: true,
  role: "NONE",
  mfr: "unknown",
  hw: "unknown",
  sw: "unknown",
  serial: "unknown",
  driver: "default",
  chassisId: "0",
  lastUpdate: "1767225600000",
  humanReadableLastUpdate: "connected since 2026-01-01T00:00:00Z",
  annotations: { channelId: "", managementAddress: "", protocol: "" },
  ...TRACKING,
  ...more,
});
const port = (element: string, number: string, type: string, annotations: object) => ({
  element,
  port: number,
  isEnabled: true,
  type,
  portSpeed: 0,
  annotations,
  ...TRACKING,
});
const AA = "of:00000000000000AA";
const LINK_ENDS = { src: { port: "1", device: AA }, dst: { port: "1", device: "Leaf" } };

const added = (kind: StoreKind, id: string, value: object): LogEntry => ({
  kind,
  id,
  before: null,
  after: JSON.stringify(value),
  changed: [],
});

const OLD_BATCH: Batch = {
  revision: 1,
  time: 1_767_225_600_000,
  entries: [
    added("devices", AA, device(AA)),
    added("devices", "Leaf", device("Leaf")),
    added("devices", "leaf", device("leaf", { sources: ["second"], mfr: "maker" })),
    added("devices", "plain", device("plain")),
    added("ports", `${AA}/1`, port(AA, "1", "odu", {})),
    added("ports", "plain/1", port("plain", "1", "copper", {})),
    added("ports", "plain/2", port("plain", "2", "copper", { portName: "two" })),
    added("links", `${AA}/1-Leaf/1`, {
      ...LINK_ENDS,
      type: "DIRECT",
      state: "ACTIVE",
      id: `${AA}/1-Leaf/1`,
      bidirectional: false,
      verified: true,
      ...TRACKING,
    }),
    // Held back: there is no device of this spelling.
    added("claims", `links LEAF/1-${AA}/1`, [
      ["first", { src: { port: "1", device: "LEAF" }, dst: { port: "1", device: AA } }],
    ]),
    added("claims", "hosts 00:00:00:00:00:01/None", [
      ["second", { mac: "00:00:00:00:00:01", vlan: "None", locations: [{ elementId: "LEAF", port: "7" }] }],
    ]),
  ],
};

/** Writes such a log to a file that does not exist yet. */
export async function writeOldLog(path: string): Promise<void> {
  const log = openEmbeddedLog(path);
  await log.append(OLD_BATCH);
  await log.close();
  const db = new Database(path);
  db.run("UPDATE meta SET value = x'31' WHERE name = 'format'");
  db.close();
}
