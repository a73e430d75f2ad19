/**
 * The host names that the service is reached by (`hosts`). A request for another one is refused: a page of an attacker
 * whose name resolves to this service (DNS rebinding) must not read it with the credentials that a browser has stored.
 */
import { quote } from "../lib/error-text.ts";
import { Problem } from "./problem.ts";

export class KnownHosts {
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(canonical));
  }

  /** Without configured names every host is known. */
  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** `authority` is a host with or without a port, or null where the request has none. */
  includes(authority: string | null): boolean {
    return authority !== null && this.#names.has(canonical(authority.replace(/:\d*$/, "")));
  }
}

/** In lower case, without the dot at the end of a fully qualified name and without the brackets of an IPv6 address. */
const canonical = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");

export const misdirected = (authority: string | null): Problem =>
  new Problem(
    "misdirected-request",
    `This service is not ${authority === null ? "reached without a Host" : quote(authority)}; the names it has are the operator's key hosts.`,
  );
