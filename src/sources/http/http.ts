/**
 * The `http` source: polls a network document, in the format of the `file` source, from an HTTP server. Requests are
 * conditional, so an unchanged document is neither transferred nor parsed.
 *
 * If the server does not respond or the document has a fault, the last valid document stays claimed and the fault is
 * reported. The validators are those of the last valid document, so that a refused one is read again.
 */
import Type from "typebox";
import { type Language, parseNetwork } from "../file/network-file.ts";
import { createPollLoop } from "../poll-loop.ts";
import { checkOf, type Source, type SourceContext } from "../source.ts";
import { intervalSeconds } from "../source-options.ts";
import { upstreamOptions } from "../upstream/options.ts";
import { Upstream } from "../upstream/upstream.ts";

const ACCEPT = "application/json, application/yaml;q=0.9, */*;q=0.5";

export const HttpOptions = Type.Object(
  { ...upstreamOptions, intervalSeconds: intervalSeconds(30) },
  { additionalProperties: false },
);
export type HttpOptions = Type.Static<typeof HttpOptions>;

export function createHttpSource(
  { name, ...options }: HttpOptions & { name: string },
  { clock }: SourceContext,
): Source {
  const upstream = new Upstream(options, { clock });
  const document = `${upstream.url.host}${upstream.url.pathname}`;
  const intervalMs = options.intervalSeconds * 1000;
  // The prefix avoids names of the service's own HTTP metrics, which begin with `gazetteer_http_` too.
  const counts = {
    document_polls_total: 0,
    document_not_modified_total: 0,
    document_failed_total: 0,
    document_refused_total: 0,
  };
  return {
    name,
    metrics: () => ({ ...counts }),
    check: async () => checkOf(await upstream.checkFiles()),
    run(sink, signal) {
      let validators: Record<string, string> = {};
      return createPollLoop({ sink, intervalMs, clock, signal }).run(async () => {
        counts.document_polls_total++;
        const response = await upstream.get("", { accept: ACCEPT, headers: validators, signal });
        if (!response.ok) {
          if (!signal.aborted) counts.document_failed_total++;
          return response;
        }
        if (response.status === 304) {
          counts.document_not_modified_total++;
          await sink.apply([]);
          return { ok: true };
        }
        const { headers } = response;
        const content = parseNetwork(document, response.body, languageOfType(headers.get("content-type")));
        if (!content.ok) {
          counts.document_refused_total++;
          // The poll counts as successful, so that a corrected document is read after one interval, without backoff.
          sink.markStale(content.message);
          return { ok: true };
        }
        await sink.replace(content.claims);
        validators = validatorsOf(headers);
        return { ok: true };
      });
    },
  };
}

/** The language of a content type; undefined where the type does not define it, such as `text/plain`. */
function languageOfType(contentType: string | null): Language | undefined {
  const [type = ""] = (contentType ?? "").toLowerCase().split(";", 1);
  if (/[/+]json$/.test(type.trim())) return "JSON";
  return /[/+](?:x-)?yaml$/.test(type.trim()) ? "YAML" : undefined;
}

function validatorsOf(headers: Headers): Record<string, string> {
  const etag = headers.get("etag");
  const lastModified = headers.get("last-modified");
  return {
    ...(etag !== null && { "if-none-match": etag }),
    ...(lastModified !== null && { "if-modified-since": lastModified }),
  };
}
