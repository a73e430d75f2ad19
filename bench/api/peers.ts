/** The servers that are measured: Gazetteer with the networks the cases need, and json-server. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Running, SERVER_CORE, start } from "../lib/process.ts";
import type { TlsFiles } from "./nginx.ts";
import { AUTHORIZATION } from "./wrk.ts";

export interface Peer extends Running {
  readonly url: string;
}

export interface Shape {
  readonly devices: number;
  readonly hosts: number;
  readonly data?: string;
  readonly churn?: "devices" | "hosts";
  readonly perSecond?: number;
  readonly tls?: TlsFiles;
  /** Changes of hosts that were made before now, in so many days. */
  readonly past?: { readonly changes: number; readonly days: number };
  /** Whether it prints how late its event loop was, on SIGUSR2 (`loop-probe.ts`). */
  readonly probesLoop?: boolean;
}

const BUN = process.execPath;
export const ROOT = join(import.meta.dir, "../..");

/** `root` is this checkout or that of another commit, which may have its benchmarks in an earlier folder. */
export async function startGazetteer(shape: Shape, root = ROOT): Promise<Peer> {
  const files = ["bench/api/serve.ts", "bench/http/serve.ts"].map((file) => join(root, file));
  const serve = files.find((file) => existsSync(file));
  if (serve === undefined) throw new Error(`${root} has no bench/api/serve.ts`);
  const preload = shape.probesLoop ? ["--preload", join(import.meta.dir, "../sources/loop-probe.ts")] : [];
  const running = start(
    [BUN, ...preload, serve, JSON.stringify({ data: ":memory:", ...shape })],
    SERVER_CORE,
  );
  const [, url = ""] = await running.line(/^ready (.*)$/);
  return { ...running, url: `${url}/controller/v1` };
}

export async function fetchBytes(
  url: string,
  encoding = "identity",
): Promise<{ bytes: Uint8Array; etag: string }> {
  const headers = { Authorization: AUTHORIZATION, "Accept-Encoding": encoding };
  const response = await fetch(url, { headers, decompress: false, tls: { rejectUnauthorized: false } });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return { bytes: new Uint8Array(await response.arrayBuffer()), etag: response.headers.get("etag") ?? "" };
}

export async function revisionOf({ url }: Peer): Promise<number> {
  const response = await fetch(`${url}/topology`, { headers: { Authorization: AUTHORIZATION } });
  await response.arrayBuffer();
  return Number(response.headers.get("gazetteer-revision"));
}

/** json-server with the same data, as a quick alternative. It checks no credentials. */
export async function startJsonServer(folder: string, port: number, data: object): Promise<Peer> {
  const file = join(folder, "db.json");
  writeFileSync(file, JSON.stringify(data));
  const entry = join(import.meta.dir, "../../node_modules/json-server/lib/cli/bin.js");
  const running = start(
    ["node", entry, file, "--port", String(port), "--host", "127.0.0.1", "--quiet"],
    SERVER_CORE,
  );
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries++) {
    const up = await fetch(`${url}/topology`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return { ...running, url };
    await Bun.sleep(50);
  }
  await running.stop();
  throw new Error("json-server did not start");
}
