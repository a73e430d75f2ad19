/** A server that answers queries as Prometheus does, with the series that a test gives it. It records each request. */

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number | string | null;
}

export interface PrometheusPeer extends Disposable {
  readonly url: string;
  readonly requests: {
    readonly path: string;
    readonly query: string | null;
    readonly authorization: string | null;
  }[];
  /** By the text of a query. */
  readonly series: Map<string, readonly Series[]>;
  /** Instead of a normal response. */
  respond: ((request: Request) => Response | Promise<Response>) | undefined;
}

export function startPrometheusPeer(): PrometheusPeer {
  const requests: PrometheusPeer["requests"] = [];
  const series: PrometheusPeer["series"] = new Map();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url);
      const query = url.searchParams.get("query");
      requests.push({ path: url.pathname, query, authorization: request.headers.get("authorization") });
      if (peer.respond) return peer.respond(request);
      const result = (series.get(query ?? "") ?? []).map(({ metric, value }) => ({
        metric,
        value: [1, value === null ? null : String(value)],
      }));
      return Response.json({ status: "success", data: { resultType: "vector", result } });
    },
  });
  const peer: PrometheusPeer = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    series,
    respond: undefined,
    [Symbol.dispose]: () => void server.stop(true),
  };
  return peer;
}
