/**
 * The way in: large files that appear, change, break and go, records of the largest size, sources that are removed, a
 * device with 50,000 hosts.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Attack, repeat, type Stop, sleep, type Target } from "./attack.ts";

const HOSTS = 50_000;
const BROKEN_YAML_BYTES = 15_000_000;
const BETWEEN_MS = 2500;
const CROWDED_DEVICE = "of:00000000ffffff01";
const EMPTY = "{}";
const LARGEST_RECORDS = 480;
const OVERSIZE_RECORDS = 48;

/** Annotations with which a device is near the limit for one record, and far over it although each one is allowed. */
export const LARGEST_TEXTS = annotationsOf(4, 16_000);
export const OVERSIZE_TEXTS = annotationsOf(255, 16_384);

function annotationsOf(count: number, length: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`text${n}`, "x".repeat(length)]));
}

const macOf = (n: number): string =>
  [0x0a, 0, 0, (n >> 16) & 0xff, (n >> 8) & 0xff, n & 0xff]
    .map((byte) => byte.toString(16).padStart(2, "0").toUpperCase())
    .join(":");

/** A network file with 50,000 hosts on the devices. Each `turn` has other addresses. */
export function hostsFile(devices: readonly string[], turn = 0): string {
  const hosts = Array.from({ length: HOSTS }, (_, n) => ({
    mac: macOf(n),
    ipAddresses: [`10.${100 + turn}.${(n >> 8) & 0xff}.${n & 0xff}`],
    location: { elementId: devices[n % devices.length] ?? "", port: 1 + (n % 48) },
  }));
  return JSON.stringify({ hosts });
}

/** About 15 MB of YAML whose last record is wrong. */
export function brokenYaml(): string {
  const records: string[] = ["hosts:\n"];
  for (let n = 0, bytes = 0; bytes < BROKEN_YAML_BYTES; n++) {
    const record =
      `  - mac: "${macOf(n)}"\n    ipAddresses: ["10.0.${(n >> 8) & 0xff}.${n & 0xff}"]\n` +
      `    location: { elementId: "of:0000000000000001", port: "1" }\n    annotations: { name: "host-${n}" }\n`;
    records.push(record);
    bytes += record.length;
  }
  return `${records.join("")}  - nac: wrong\n`;
}

/** A network file with devices of such annotations. Each `turn` has other names. */
function recordsFile(count: number, annotations: Readonly<Record<string, string>>, turn: number): string {
  const devices = Array.from({ length: count }, (_, n) => ({
    id: `of:00000000ffff${n.toString(16).padStart(4, "0")}`,
    annotations: { ...annotations, name: `device ${n} of ${turn}` },
  }));
  return JSON.stringify({ devices });
}

/** Replaces the file in one step, so that the service never reads half of it. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

async function startFile({ files: [file], devices }: Target): Promise<Stop> {
  const states = [hostsFile(devices), hostsFile(devices, 1), EMPTY];
  let turn = 0;
  const stop = repeat(async (signal) => {
    replaceFile(file, states[turn++ % states.length] ?? EMPTY);
    await sleep(BETWEEN_MS, signal);
  });
  return async () => {
    await stop();
    replaceFile(file, EMPTY);
    return `${turn} files`;
  };
}

/** The file is loaded, changed and replaced by one over the limit, while all of its devices are read, sorted and searched. */
async function startLargeRecords(target: Target): Promise<Stop> {
  const { files, url, authorization } = target;
  const [file] = files;
  const states = [
    recordsFile(LARGEST_RECORDS, LARGEST_TEXTS, 0),
    recordsFile(LARGEST_RECORDS, LARGEST_TEXTS, 1),
    recordsFile(OVERSIZE_RECORDS, OVERSIZE_TEXTS, 2),
  ];
  let turn = 0;
  const stopFiles = repeat(async (signal) => {
    replaceFile(file, states[turn++ % states.length] ?? EMPTY);
    await sleep(BETWEEN_MS, signal);
  });
  const reads = ["sort=annotations.text0", "q=device", "format=csv"];
  let read = 0;
  const stopReads = repeat(async (signal) => {
    const path = `${url}/controller/v1/devices?${reads[read++ % reads.length]}`;
    const response = await fetch(path, { headers: { Authorization: authorization }, signal });
    for await (const _ of response.body ?? []) if (signal.aborted) return;
  });
  return async () => {
    await Promise.all([stopFiles(), stopReads()]);
    replaceFile(file, EMPTY);
    return `${turn} files, ${read} reads`;
  };
}

/** The file has no extension that says so, but its beginning does: the service parses it as YAML. */
async function startBrokenYaml({ files: [file] }: Target): Promise<Stop> {
  const text = brokenYaml();
  let turn = 0;
  const stop = repeat(async (signal) => {
    replaceFile(file, `# ${turn++}\n${text}`);
    await sleep(BETWEEN_MS, signal);
  });
  return async () => {
    await stop();
    replaceFile(file, EMPTY);
    return undefined;
  };
}

interface ConfigFile {
  readonly sources: readonly { readonly type: string; readonly name?: string }[];
}

/** Writes a configuration with other sources and has the service read it. The returned function restores the former. */
function reconfigure(
  { configFile, pid }: Target,
  change: (sources: ConfigFile["sources"]) => ConfigFile["sources"],
): () => void {
  const text = readFileSync(configFile, "utf8");
  const config: ConfigFile = JSON.parse(text);
  const apply = (content: string) => {
    replaceFile(configFile, content);
    // The process may have ended; then there is nothing to restore.
    if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGHUP");
  };
  apply(JSON.stringify({ ...config, sources: change(config.sources) }));
  return () => apply(text);
}

/** A source with 50,000 hosts is removed from the configuration and added again. */
async function startWithdrawal(target: Target): Promise<Stop> {
  const [file] = target.files;
  replaceFile(file, hostsFile(target.devices));
  await Bun.sleep(BETWEEN_MS);
  const stop = repeat(async (signal) => {
    const restore = reconfigure(target, (sources) =>
      sources.filter((source) => !("path" in source && source.path === file)),
    );
    await sleep(BETWEEN_MS, signal);
    restore();
    await sleep(BETWEEN_MS, signal);
  });
  return async () => {
    await stop();
    replaceFile(file, EMPTY);
    return undefined;
  };
}

async function startCrowdedDevice({ files: [hosts, device] }: Target): Promise<Stop> {
  const present = JSON.stringify({ devices: [{ id: CROWDED_DEVICE }] });
  replaceFile(device, present);
  replaceFile(hosts, hostsFile([CROWDED_DEVICE]));
  await Bun.sleep(BETWEEN_MS);
  let turn = 0;
  const stop = repeat(async (signal) => {
    replaceFile(device, turn++ % 2 === 0 ? EMPTY : present);
    await sleep(BETWEEN_MS, signal);
  });
  return async () => {
    await stop();
    replaceFile(device, EMPTY);
    replaceFile(hosts, EMPTY);
    return undefined;
  };
}

/** A second network of a million hosts is loaded beside the first. */
async function startMillion(target: Target): Promise<Stop> {
  const million = { type: "demo", name: "million", devices: 10_000, hosts: 1_000_000, churn: 0, seed: 2 };
  const restore = reconfigure(target, (sources) => [...sources, million]);
  return async () => {
    restore();
    return undefined;
  };
}

export const SOURCE_ATTACKS: readonly Attack[] = [
  { name: "file", what: "a file of 50,000 hosts is loaded, replaced, removed", start: startFile },
  {
    name: "large-records",
    what: "devices of 64 KB, and of 4 MB, which are refused, are loaded, replaced and read",
    start: startLargeRecords,
  },
  { name: "yaml-fault", what: "15 MB of YAML with one fault at its end", start: startBrokenYaml },
  { name: "withdrawn-source", what: "a source of 50,000 hosts is removed, added", start: startWithdrawal },
  { name: "crowded-device", what: "a device with 50,000 hosts comes and goes", start: startCrowdedDevice },
];

/** Only measured at the large size: it takes longer than a row there. */
export const LOADING_ATTACK: Attack = {
  name: "million-hosts",
  what: "1,000,000 hosts are loaded",
  start: startMillion,
};
