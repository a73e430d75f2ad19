/**
 * Where the service is and who asks, as people paste it: `--url` with or without the scheme, the path and credentials
 * in it, and GAZETTEER_CREDENTIALS. What is in the address comes before what is in the environment.
 */
import { usageFailure } from "./failure.ts";

export const DEFAULT_URL = "http://127.0.0.1:8181";

export interface ServiceAddress {
  readonly url: URL;
  /** `NAME:PASSWORD`. */
  readonly credentials: string | undefined;
}

export function serviceAddress(given: string | undefined, environment: string | undefined): ServiceAddress {
  const text = given ?? DEFAULT_URL;
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(
      `--url ${JSON.stringify(text)} is not an http or https address such as ${DEFAULT_URL}`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw usageFailure("--url is the address of the service; queries are given as NAME=VALUE");
  }
  if (url.username !== "") return { url, credentials: `${decoded(url.username)}:${decoded(url.password)}` };
  if (environment === undefined || environment === "") return { url, credentials: undefined };
  if (!environment.includes(":")) throw usageFailure("GAZETTEER_CREDENTIALS must be <USERNAME>:<PASSWORD>");
  return { url, credentials: environment };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
