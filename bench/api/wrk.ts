/** wrk, pinned to its own core: requests and bytes a second. Throws when responses were errors. */
import { run } from "../lib/process.ts";

export interface Load {
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
}

export interface LoadOptions {
  readonly seconds: number;
  readonly connections?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly script?: string;
}

export const CREDENTIALS = { user: "bench", password: "bench" };
export const AUTHORIZATION = `Basic ${btoa(`${CREDENTIALS.user}:${CREDENTIALS.password}`)}`;

export async function load(
  url: string,
  { seconds, connections = 32, headers = {}, script }: LoadOptions,
): Promise<Load> {
  const all = { Authorization: AUTHORIZATION, ...headers };
  const out = await run([
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    ...Object.entries(all).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    ...(script === undefined ? [] : ["-s", script]),
    url,
  ]);
  const failed = out.match(/Non-2xx or 3xx responses: (\d+)/);
  if (failed) throw new Error(`${url}: ${failed[0]}`);
  const requests = Number(out.match(/Requests\/sec:\s+([\d.]+)/)?.[1]);
  const [, amount = "0", unit = ""] = out.match(/Transfer\/sec:\s+([\d.]+)([KMG]?B)/) ?? [];
  const scale = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }[unit] ?? 1;
  return { requestsPerSecond: requests, bytesPerSecond: Number(amount) * scale };
}
