/**
 * Turns every error of a request into a problem response (RFC 9457), and counts it. A `ProblemDetails` is meant for the
 * client. Any other exception is a fault of the service: the client gets a 500 without details, and the details are logged
 * with the same `instance`.
 */
import type { Response } from "../../http1/response.ts";
import type { Logger } from "../../lib/logger.ts";
import { HistoryPruned } from "../../view/read-all.ts";
import type { Exchange } from "../exchange.ts";
import type { RequestCounters } from "../metrics/process-metrics.ts";
import { type Dialect, PLAIN } from "../onos/dialect.ts";
import { escapeHtml, HTML_TYPE, htmlPage, plainPage } from "../site/html-page.ts";
import { PAGE_HEADERS } from "../site/static-site.ts";
import { addHeaders } from "./common-headers.ts";
import type { Cors } from "./cors.ts";
import { ProblemDetails, UnknownPathProblem } from "./problem.ts";

/*
 * The pages for people who open a path of the service that does not exist, or are refused. Programs get the problem with the
 * same status and text.
 */

const HTML_TYPES = ["text/html", "application/xhtml+xml"];

/**
 * Whether the client is a browser that opens a page. All browsers accept both media types of HTML. Java's HTTP client, which
 * is a program, accepts only `text/html`.
 */
function isBrowser(accept: string | null): boolean {
  const accepted = (accept ?? "")
    .toLowerCase()
    .split(",")
    .map((element) => element.trim());
  return HTML_TYPES.every((type) => accepted.includes(type));
}

const problemPageHeaders = { ...PAGE_HEADERS, "Content-Type": HTML_TYPE, Vary: "Accept" };

const renderUnknownPathPage = ({ title, message }: ProblemDetails): string =>
  htmlPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p class="detail">${escapeHtml(message)}</p>
<ul>
<li><a href="/">The map of the network</a></li>
<li><a href="/docs">The documentation</a></li>
<li><a href="/controller/v1/topology">/controller/v1/topology</a>, the first of the reads for programs</li>
</ul>`,
  );

/** The statuses with which the service refuses a reader, whatever is read. */
const REFUSALS = [401, 403, 421, 429, 503];

/** The page of a refused reader. It has no style sheet, because that would be refused too, and the browser would prompt again. */
const renderRefusedPage = ({ status, title, message }: ProblemDetails): string =>
  plainPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p>${status === 401 ? "This service needs a user name and a password." : escapeHtml(message)}</p>
<p><a href="">${status === 401 ? "Log in" : "Try again"}</a></p>`,
  );

function problemPageOf(problem: ProblemDetails): ((problem: ProblemDetails) => string) | undefined {
  if (problem instanceof UnknownPathProblem) return renderUnknownPathPage;
  return REFUSALS.includes(problem.status) ? renderRefusedPage : undefined;
}

export class ProblemResponder {
  readonly #cors: Cors;
  readonly #counters: RequestCounters;
  readonly #logger: Logger;

  constructor(cors: Cors, counters: RequestCounters, logger: Logger) {
    this.#cors = cors;
    this.#counters = counters;
    this.#logger = logger;
  }

  respondTo(exchange: Exchange, error: unknown): Response {
    const { request, readName, rateLimitHeaders, credential, id } = exchange;
    // A client that must authenticate gets the same problem under every prefix.
    const dialect = credential || request.method === "OPTIONS" ? exchange.dialect : PLAIN;
    const headers = { ...this.#cors.headers(request.header("origin")), ...rateLimitHeaders };
    const problem = this.#problemOf(error, id);
    exchange.isCounted = true;
    exchange.problem = problem.code;
    const response = this.#respond(problem, readName, headers, dialect, id);
    const render = dialect === PLAIN ? problemPageOf(problem) : undefined;
    if (!render || !isBrowser(request.header("accept"))) return response;
    return { ...addHeaders(response, problemPageHeaders), body: render(problem) };
  }

  /** The response to an error outside an exchange. `readName` is the label under which it is counted. */
  respond(error: unknown, readName: string): Response {
    const id = crypto.randomUUID();
    return this.#respond(this.#problemOf(error, id), readName, {}, PLAIN, id);
  }

  #respond(
    problem: ProblemDetails,
    readName: string,
    headers: Readonly<Record<string, string>>,
    dialect: Dialect,
    id: string,
  ): Response {
    this.#counters.responses(readName, problem.status).count++;
    const { contentType, body } = dialect.error(problem, `urn:uuid:${id}`);
    return {
      status: problem.status,
      headers: { "Content-Type": contentType, "Cache-Control": "no-store", ...headers, ...problem.headers },
      body,
    };
  }

  #problemOf(error: unknown, id: string): ProblemDetails {
    if (error instanceof ProblemDetails) return error;
    if (error instanceof HistoryPruned)
      return new ProblemDetails("revision-expired", "The revision was pruned while it was read. List again.");
    return this.#logUnexpected(error, id);
  }

  #logUnexpected(error: unknown, id: string): ProblemDetails {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#logger.error("request failed", { instance: `urn:uuid:${id}`, why });
    return new ProblemDetails(
      "internal",
      "The service failed; its log has the details under the instance of this response.",
    );
  }
}
