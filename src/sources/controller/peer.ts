/**
 * Identifies the upstream: another Gazetteer, or ONOS. A Gazetteer shows in `/readyz` its log and the logs that its sources
 * come from; one of an earlier version only sends the header `Gazetteer-Log`. Both also work when the configured URL is that
 * of its alias `onos`.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { parseAddress } from "../../client/address.ts";
import type { UpstreamFailure, UpstreamFailureCode } from "../upstream/exchange.ts";
import type { Upstream } from "../upstream/upstream.ts";

const MAX_READINESS_BYTES = 1024 * 1024;
const MAX_LOGS = 1000;
const NO_READINESS: readonly UpstreamFailureCode[] = ["too-large", "protocol"];

const LogId = Type.String({ pattern: "^[\\w.:-]{1,64}$" });
const Readiness = Type.Object({
  status: Type.String(),
  logId: LogId,
  sources: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ maxLength: 63 }),
        upstreamLogs: Type.Optional(Type.Array(LogId, { maxItems: MAX_LOGS })),
      }),
      { maxItems: MAX_LOGS },
    ),
  ),
});
const isReadiness = Compile(Readiness);
const isLogId = Compile(LogId);

export interface GazetteerPeer {
  readonly ok: true;
  readonly kind: "gazetteer";
  readonly logId: string;
  /** Its sources that read from Gazetteers, with the logs that they come from. */
  readonly sources: readonly { readonly name: string; readonly upstreamLogs: readonly string[] }[];
  /** Set while not all of its sources have reported. */
  readonly isStarting: boolean;
}

export type UpstreamPeer =
  | GazetteerPeer
  | { readonly ok: true; readonly kind: "onos" }
  | Pick<UpstreamFailure, "ok" | "message">;

export async function identifyPeer(upstream: Upstream, signal: AbortSignal): Promise<UpstreamPeer> {
  const url = new URL(`${serviceUrlOf(upstream)}/readyz`);
  const request = { anyStatus: true, maxBytes: MAX_READINESS_BYTES, signal };
  const response = await upstream.get(url, request);
  // ONOS has no such path, and a proxy in front of it may send any response.
  if (!response.ok && NO_READINESS.includes(response.code)) return identifyByHeader(upstream, signal);
  if (!response.ok) return response;
  const body = parseJson(response.body);
  if (isReadiness.Check(body)) {
    const sources = (body.sources ?? []).flatMap(({ name, upstreamLogs }) =>
      upstreamLogs ? [{ name, upstreamLogs }] : [],
    );
    return {
      ok: true,
      kind: "gazetteer",
      logId: body.logId,
      sources,
      isStarting: body.status === "starting",
    };
  }
  if (typeof body === "object" && body !== null && "logId" in body) {
    return { ok: false, message: `${url.host}${url.pathname}: the response is not that of a Gazetteer` };
  }
  return identifyByHeader(upstream, signal);
}

async function identifyByHeader(upstream: Upstream, signal: AbortSignal): Promise<UpstreamPeer> {
  const response = await upstream.get("topology", { signal });
  if (!response.ok) return response;
  const logId = response.headers.get("gazetteer-log");
  if (logId === null || !isLogId.Check(logId)) return { ok: true, kind: "onos" };
  return { ok: true, kind: "gazetteer", logId, sources: [], isStarting: false };
}

/** The URL of the service, without a slash at its end. */
export const serviceUrlOf = ({ url }: Upstream): string =>
  parseAddress(url, undefined).serviceUrl.href.replace(/\/+$/, "");

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
