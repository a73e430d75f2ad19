/**
 * The host names of the service (`hosts`). A request for another host is refused, because an attacker's page whose host
 * name resolves to this service (DNS rebinding) must not read it with the credentials that a browser has stored.
 */
import type { Request } from "../../http1/request.ts";
import { quote } from "../../lib/error-text.ts";
import { isHealthPath } from "../endpoints/health.ts";
import { pathOf } from "../exchange.ts";
import { ProblemDetails } from "../response/problem.ts";

export class KnownHosts {
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(canonical));
  }

  /** Whether any host is accepted, because no names are configured. */
  get isAny(): boolean {
    return this.#names.size === 0;
  }

  /** The problem of a request for another host. The health endpoints accept any host, because probes use addresses. */
  check({ authority, target }: Request): ProblemDetails | undefined {
    const isKnown = authority !== null && this.#names.has(canonical(authority.replace(/:\d*$/, "")));
    if (isKnown || isHealthPath(pathOf(target))) return undefined;
    const named = authority === null ? "A request without a Host" : `The host ${quote(authority)}`;
    return new ProblemDetails(
      "misdirected-request",
      `${named} is not one of this service; its names are the operator's key hosts.`,
    );
  }
}

/** The name in lower case, without the dot at the end of a fully qualified name and without the brackets of an IPv6 address. */
const canonical = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
