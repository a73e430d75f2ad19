/**
 * Sends the requests of the page. At first the browser adds the credentials that the user typed at its own prompt. When the
 * service no longer accepts them, requests wait until the user has typed others in a form of the page. From then on the page
 * sends its own `Authorization`, which is kept in memory only.
 *
 * No request is sent while the form is shown. Requests with wrong credentials would count as failed logins, for which the
 * service would refuse the right ones too.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import { authorizationOf } from "../../client/address.ts";
import type { Fetch } from "../../client/client.ts";
import { orAborted } from "../../lib/aborted.ts";

/** With this header the service sends no challenge that makes the browser show its own prompt. */
const REQUESTED_BY_PAGE = { "x-requested-with": "gazetteer" };

export interface PageSession {
  /** Whether requests wait until the user has logged in. */
  readonly needsLogin: ReadonlySignal<boolean>;
  /** Whether the page sends its own credentials. A link that the browser follows does not have them. */
  readonly hasOwnCredentials: boolean;
  /** Sends a request, and sends it again after a login if the credentials are refused. It never resolves to a 401. */
  readonly fetch: Fetch;
  /** Tries credentials. Resolves to the reason why they are refused; undefined if they are accepted. */
  logIn(username: string, password: string): Promise<string | undefined>;
}

/** `checkUrl` is the address of a resource that needs credentials. */
export function createSession(checkUrl: string, send: Fetch = (url, init) => fetch(url, init)): PageSession {
  const needsLogin = signal(false);
  let authorization: string | undefined;
  let login = Promise.withResolvers<void>();
  const sendWith = (own: string | undefined, url: string, init: RequestInit) => {
    const headers = new Headers({ ...REQUESTED_BY_PAGE, ...(own !== undefined && { authorization: own }) });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return send(url, { ...init, headers });
  };
  return {
    needsLogin,
    get hasOwnCredentials() {
      return authorization !== undefined;
    },
    async fetch(url, init) {
      for (;;) {
        if (needsLogin.peek()) await (init.signal ? orAborted(login.promise, init.signal) : login.promise);
        init.signal?.throwIfAborted();
        const own = authorization;
        const response = await sendWith(own, url, init);
        if (response.status !== 401) return response;
        // Another request may have been refused before, and the user may have logged in since this one was sent.
        if (own !== authorization || needsLogin.peek()) continue;
        login = Promise.withResolvers();
        needsLogin.value = true;
      }
    },
    async logIn(username, password) {
      try {
        const own = authorizationOf({ user: username, password });
        const response = await sendWith(own, checkUrl, { cache: "no-store" });
        if (response.status === 401) return "The user name or the password is wrong.";
        if (!response.ok) return String((await response.json()).detail ?? response.status);
        authorization = own;
        needsLogin.value = false;
        login.resolve();
        return undefined;
      } catch {
        return "The service does not respond.";
      }
    },
  };
}
