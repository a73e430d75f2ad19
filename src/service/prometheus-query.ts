/**
 * One instant query to a Prometheus server, or to any server with the same HTTP API. The response is read in pieces and
 * bounded in size and time. Only the configured address is requested, with the configured query: no value of the network
 * and no parameter of a client is part of a request.
 */
import type { Clock } from "../lib/clock.ts";
import { isRecord } from "../lib/is-record.ts";
import { JsonArrayItems } from "../lib/json-array-items.ts";
import { within } from "../lib/within.ts";
import { yieldToLoop } from "../lib/yield-to-loop.ts";
import { UpstreamError, type UpstreamFailure } from "../sources/upstream/exchange.ts";
import type { Upstream } from "../sources/upstream/upstream.ts";

/** The value of one time series, with the two labels that name its port. A missing label is empty. */
export interface PortSample {
  readonly device: string;
  readonly port: string;
  readonly value: number;
}

export type QueryResult =
  | { readonly ok: true; readonly samples: readonly PortSample[] }
  /** The message is for users of the map, and contains the host and the path of the server. */
  | { readonly ok: false; readonly message: string };

export interface PortQuery {
  readonly query: string;
  /** The name of the label with the device; `port` is the name of the label with the port. */
  readonly device: string;
  readonly port: string;
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
}

/** Maximum bytes of a response that are parsed between two turns of the event loop. */
const BYTES_PER_TURN = 16 * 1024;

export async function queryPorts(
  upstream: Upstream,
  query: PortQuery,
  clock: Clock,
  signal: AbortSignal,
): Promise<QueryResult> {
  const { timeoutSeconds } = query;
  let isLate = false;
  return within(clock, timeoutSeconds * 1000, signal, async (limited) => {
    const onAbort = () => {
      isLate = !signal.aborted;
    };
    limited.addEventListener("abort", onAbort, { once: true });
    const result = await readResult(upstream, query, limited);
    return !result.ok && isLate
      ? { ok: false, message: `${targetOf(upstream)}: no complete response within ${timeoutSeconds} s` }
      : result;
  });
}

async function readResult(upstream: Upstream, query: PortQuery, signal: AbortSignal): Promise<QueryResult> {
  const parameters = new URLSearchParams({ query: query.query, timeout: `${query.timeoutSeconds}s` });
  const timeoutMs = query.timeoutSeconds * 1000;
  const response = await upstream.stream(`${PATH}?${parameters}`, {
    signal,
    timeoutMs,
    maxBytes: query.maxBytes,
  });
  if (!response.ok) return { ok: false, message: describeFailure(response) };
  const items = new JsonArrayItems("result");
  const decoder = new TextDecoder();
  const samples: PortSample[] = [];
  // The type of the result precedes the result. Items of other types than a vector have another form.
  const isVector = () => /"resultType"\s*:\s*"vector"/.test(items.head ?? "");
  const failed = (): QueryResult => {
    const why =
      items.head === undefined || isVector()
        ? "the response is not one of Prometheus"
        : "the result of the query is no instant vector";
    return { ok: false, message: `${targetOf(upstream)}: ${why}` };
  };
  try {
    for await (const chunk of response.chunks) {
      for (let from = 0; from < chunk.length; from += BYTES_PER_TURN) {
        const text = decoder.decode(chunk.subarray(from, from + BYTES_PER_TURN), { stream: true });
        for (const item of items.push(text)) {
          const sample = parseSample(item, query);
          if (sample === "malformed") return failed();
          if (sample) samples.push(sample);
        }
        if (items.isMalformed) return failed();
        await yieldToLoop();
      }
    }
  } catch (error) {
    if (error instanceof UpstreamError) return { ok: false, message: error.message };
    throw error;
  }
  return items.isComplete && isVector() ? { ok: true, samples } : failed();
}

const PATH = "api/v1/query";
const targetOf = ({ url }: Upstream): string => `${url.host}${url.pathname.replace(/\/+$/, "")}/${PATH}`;

/** Parses one time series; undefined where the value is no finite number, because the map cannot show it. */
function parseSample(item: string, labels: PortQuery): PortSample | undefined | "malformed" {
  let series: unknown;
  try {
    series = JSON.parse(item);
  } catch {
    return "malformed";
  }
  if (!isRecord(series) || !isRecord(series.metric) || !Array.isArray(series.value)) return "malformed";
  // The value is text, such as "42.5" or "NaN". Empty text is excluded, because `Number` converts it to 0.
  const value: unknown = series.value[1];
  if (typeof value !== "string" || value.trim() === "" || !Number.isFinite(Number(value))) return undefined;
  const text = (label: unknown) => (typeof label === "string" ? label : "");
  return {
    device: text(series.metric[labels.device]),
    port: text(series.metric[labels.port]),
    value: Number(value),
  };
}

/** The message contains the error type of Prometheus, such as `bad_data`, and no other text from the server. */
function describeFailure({ message, errorBody }: UpstreamFailure): string {
  const word = /"errorType"\s*:\s*"([a-z_]{1,40})"/.exec(Buffer.from(errorBody ?? []).toString("utf8"))?.[1];
  return word === undefined ? message : `${message} (${word})`;
}
