/**
 * The address and credentials of a running service: `--url` with or without scheme, path and credentials, and
 * GAZETTEER_CREDENTIALS. Credentials in the URL take precedence over those in the environment.
 */
import { usageFailure } from "./failure.ts";

export const DEFAULT_URL = "http://127.0.0.1:8181";

export interface ServiceAddress {
  readonly url: URL;
  /** `NAME:PASSWORD`. */
  readonly credentials: string | undefined;
}

export function parseServiceAddress(
  urlFlag: string | undefined,
  environmentCredentials: string | undefined,
): ServiceAddress {
  const text = urlFlag ?? DEFAULT_URL;
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw usageFailure(
      `--url ${JSON.stringify(text)} is not an http or https address such as ${DEFAULT_URL}`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw usageFailure("--url is the address of the service; queries are given as NAME=VALUE");
  }
  if (url.username !== "") {
    return { url, credentials: `${decodeUserInfo(url.username)}:${decodeUserInfo(url.password)}` };
  }
  if (environmentCredentials === undefined || environmentCredentials === "") {
    return { url, credentials: undefined };
  }
  if (!environmentCredentials.includes(":")) {
    throw usageFailure("GAZETTEER_CREDENTIALS must be <USERNAME>:<PASSWORD>");
  }
  return { url, credentials: environmentCredentials };
}

/** A stray `%` is no percent-encoding: the text is then used as it is. */
function decodeUserInfo(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
