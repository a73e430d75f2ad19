/** Serves the service's own paths, and the files that its pages load. */
import type { Request } from "../../http1/request.ts";
import type { Response } from "../../http1/response.ts";
import type { CancelSignal } from "../../lib/scheduler.ts";
import type { ForwardMetrics } from "../forwarding/forwarding.ts";
import type { ProcessMetrics } from "../metrics/process-metrics.ts";
import { isInterfacePath, type Prefixes } from "../onos/onos-dialect.ts";
import { openapiText } from "../openapi/document.ts";
import { addHeaders } from "../response/common-headers.ts";
import { isReadMethod, methodNotAllowed } from "../response/problem.ts";
import { JSON_TYPE } from "../response/representation.ts";
import { StaticFile } from "../site/static-site.ts";
import { unknownPath } from "./routing.ts";
import type { ServiceContext, ServiceEndpoint, ServiceEndpointOptions } from "./service-endpoint.ts";
import { SERVICE_ENDPOINTS } from "./service-endpoints.ts";

export class ServiceHandler {
  readonly service: ServiceContext;
  readonly #prefixes: Prefixes;

  constructor(
    options: ServiceEndpointOptions,
    prefixes: Prefixes,
    metrics: () => ProcessMetrics,
    forwards: ForwardMetrics | undefined,
  ) {
    this.service = { ...options, metrics, forwards, openapi: openapiFiles(options) };
    this.#prefixes = prefixes;
  }

  /** Responds to an authenticated client. Throws a `ProblemDetails` for a path or a method that does not exist. */
  async respond(
    request: Request,
    path: string,
    headers: Readonly<Record<string, string>>,
    owner: string,
    signal: CancelSignal,
  ): Promise<Response> {
    const { service } = this;
    const { method } = request;
    const endpoint = this.#find(path);
    if (endpoint && isReadMethod(method)) {
      const response = await endpoint.respond({
        service,
        request,
        path,
        owner,
        signal,
        isUser: true,
        isStopping: false,
      });
      if (response) return addHeaders(response, headers);
    } else if (endpoint && (await exists(endpoint, path)))
      throw methodNotAllowed(method, endpoint.writeAdvice);
    const file =
      isReadMethod(method) && this.#mayBeFile(path) && (await service.site?.respond(path, request));
    if (file) return file;
    throw unknownPath(path, this.#prefixes, method);
  }

  /** Throws a `ProblemDetails` for a path that does not exist. Used for OPTIONS, which needs no credentials. */
  async requirePath(path: string, method: string): Promise<void> {
    const endpoint = this.#find(path);
    const isThere = endpoint
      ? await exists(endpoint, path)
      : this.#mayBeFile(path) && (await this.service.site?.has(path));
    if (!isThere) throw unknownPath(path, this.#prefixes, method);
  }

  #find(path: string): ServiceEndpoint | undefined {
    return SERVICE_ENDPOINTS.find((endpoint) => endpoint.matches(path, this.service));
  }

  /** Whether the path can be that of a file of the web page. */
  #mayBeFile(path: string): boolean {
    return !isInterfacePath(path, this.#prefixes);
  }
}

const exists = async ({ exists: find }: ServiceEndpoint, path: string): Promise<boolean> =>
  find ? find(path) : true;

/** Returns the OpenAPI document, which is generated again after a change of the limit that it contains. */
function openapiFiles({ version, limits }: ServiceEndpointOptions): () => StaticFile {
  let made: { readonly file: StaticFile; readonly pageLimit: number } | undefined;
  return () => {
    const { pageLimit } = limits;
    if (made?.pageLimit !== pageLimit)
      made = { pageLimit, file: new StaticFile(Buffer.from(openapiText({ version, pageLimit })), JSON_TYPE) };
    return made.file;
  };
}
