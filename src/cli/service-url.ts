/**
 * Where the service is and who asks: `--url`, as people paste it (with or without the path, with or without
 * credentials in it), and GAZETTEER_CREDENTIALS.
 */
import { usageFailure } from "./failure.ts";

export const DEFAULT_URL = "http://127.0.0.1:8181";

export interface ServiceAddress {
  /** `http://host:port/controller/v1`, without a slash at the end. */
  readonly base: string;
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
  const path = url.pathname.replace(/\/+$/, "");
  // A proxy may serve it below a path of its own, and an alias has another first segment.
  const base = url.origin + (/\/[^/]+\/v1$/.test(path) ? path : `${path}/controller/v1`);
  const inUrl = url.username === "" ? undefined : `${decoded(url.username)}:${decoded(url.password)}`;
  return { base, credentials: inUrl ?? (environment === "" ? undefined : environment) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function basicHeader(credentials: string): string {
  return `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`;
}
