/** A service for unit tests of the page: the test sends the response of each request, or none. */
import { type Client, createClient } from "../../src/client/client.ts";

interface FakeRequest {
  /** With its query. */
  readonly path: string;
  readonly signal: AbortSignal | null | undefined;
  respond(response: Response): void;
  /** As when the service cannot be reached. */
  fail(): void;
}

export function createFakeService(): { readonly client: Client; readonly requests: readonly FakeRequest[] } {
  const requests: FakeRequest[] = [];
  const client = createClient({
    url: "http://service.test",
    fetch: (url, { signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const { pathname, search } = new URL(url);
      const fail = () => reject(new TypeError("fetch failed"));
      requests.push({ path: pathname + search, signal, respond: resolve, fail });
      return promise;
    },
  });
  return { client, requests };
}

/** Until all promises are resolved that wait for no timer. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 100; i++) await Promise.resolve();
}
