/** wrk, pinned to its own core: requests and bytes a second. Throws when responses were errors. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Running, run } from "../lib/process.ts";

export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
}

export interface LoadOptions {
  readonly seconds: number;
  readonly connections?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly distinct?: DistinctRequests;
}

export const CREDENTIALS = { user: "bench", password: "bench" };
export const AUTHORIZATION = `Basic ${btoa(`${CREDENTIALS.user}:${CREDENTIALS.password}`)}`;

export async function load(
  url: string,
  { seconds, connections = 32, headers = {}, distinct }: LoadOptions,
): Promise<Load> {
  const all = { Authorization: AUTHORIZATION, ...headers };
  const out = await run([
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    ...Object.entries(all).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
    ...(distinct ? ["-s", distinct.script, url, "--", String(distinct.next)] : [url]),
  ]);
  const failed = out.match(/Non-2xx or 3xx responses: (\d+)/);
  if (failed) throw new Error(`${url}: ${failed[0]}`);
  const requests = Number(out.match(/(\d+) requests in/)?.[1]);
  if (!(requests > 0)) throw new Error(`${url}: no response within ${seconds} s`);
  if (distinct) distinct.next += requests + connections;
  const requestsPerSecond = Number(out.match(/Requests\/sec:\s+([\d.]+)/)?.[1]);
  const [, amount = "0", unit = ""] = out.match(/Transfer\/sec:\s+([\d.]+)([KMG]?B)/) ?? [];
  const scale = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }[unit] ?? 1;
  return { requests, requestsPerSecond, bytesPerSecond: Number(amount) * scale };
}

/** The processor time that the server uses for each request, in microseconds. */
export async function microsPerRequest(server: Running, url: string, options: LoadOptions): Promise<number> {
  const before = server.cpuSeconds();
  const { requests } = await load(url, options);
  return ((server.cpuSeconds() - before) * 1e6) / requests;
}

/**
 * Requests of which none has the same target as an earlier one, over all runs of wrk, so that no cache has a response.
 * There are more requests than hosts: the same request is spelled in up to 64 ways that cost the server the same, most
 * with empty parameters at the end of the query.
 */
export interface DistinctRequests {
  readonly script: string;
  /** The number of the next request. */
  next: number;
}

/** Requests of `/hosts?ip=`, or of another parameter, for the hosts of `network.ts`. */
export const distinctLookups = (folder: string, hosts: number, parameter = "ip"): DistinctRequests =>
  distinct(
    join(folder, `${parameter}-${hosts}.lua`),
    hosts,
    `local ip = string.format("10.%d.%d.%d", math.floor(i / 65536) % 256, math.floor(i / 256) % 256, i % 256)
  return wrk.format("GET", wrk.path .. "?${parameter}=" .. ip .. string.rep("&", spelling))`,
  );

/** Requests of the hosts at a device. */
export const distinctDevices = (folder: string, devices: number): DistinctRequests =>
  distinct(
    join(folder, `devices-${devices}.lua`),
    devices,
    `return wrk.format("GET", wrk.path .. string.format("?device=of:%016x", i + 1) .. string.rep("&", spelling))`,
  );

/** Requests of about a hundred hosts, sorted. */
export const distinctSorts = (folder: string): DistinctRequests =>
  distinct(
    join(folder, "sorts.lua"),
    61,
    `return wrk.format("GET", wrk.path .. "?sort=-mac&limit=" .. (100 + i) .. string.rep("&", spelling))`,
  );

/** Requests of `/hosts/ID`. Which of the colons are percent-encoded is the spelling. */
export const distinctItems = (folder: string, hosts: number): DistinctRequests =>
  distinct(
    join(folder, `items-${hosts}.lua`),
    hosts,
    `local digits = string.format("%012X", i + 1)
  local id = string.sub(digits, 1, 2)
  for at = 3, 11, 2 do
    id = id .. (spelling % 2 == 0 and ":" or "%3A") .. string.sub(digits, at, at + 1)
    spelling = math.floor(spelling / 2)
  end
  return wrk.format("GET", wrk.path .. "/" .. id .. (spelling % 2 == 0 and "%2F" or "%2f") .. "None")`,
  );

/** `count` must not be a multiple of the stride, so that neighbours do not follow each other and none is left out. */
function distinct(script: string, count: number, request: string): DistinctRequests {
  writeFileSync(
    script,
    `local n = 0
init = function(args) n = tonumber(args[1]) end
request = function()
  n = n + 1
  local i = (n * 7919) % ${count}
  local spelling = math.floor(n / ${count}) % 64
  ${request}
end
`,
  );
  return { script, next: 0 };
}
