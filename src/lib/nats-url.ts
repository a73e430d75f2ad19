/**
 * Parses the configured address of a NATS server: `nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT]` or `tls://…`. The NATS client
 * ignores both the scheme and the user of an address.
 */

export interface NatsUrl {
  /** The address without the user, so that it may be shown. */
  readonly address: string;
  readonly hostname: string;
  readonly isTls: boolean;
  /** The credentials as options of the NATS client. */
  readonly login: { readonly user: string; readonly pass: string } | { readonly token: string } | undefined;
}

/** Throws when the text is no address; the message contains no part of the text. */
export function parseNatsUrl(text: string): NatsUrl {
  const url = URL.parse(text);
  const [user, pass] = [decode(url?.username), decode(url?.password)];
  if (
    !url?.hostname ||
    user === undefined ||
    pass === undefined ||
    !/^\/?$/.test(url.pathname + url.search)
  ) {
    throw new Error(
      "not an address of a NATS server; special characters of a password must be encoded (%40)",
    );
  }
  return {
    address: `${url.protocol}//${url.host}`,
    hostname: url.hostname,
    isTls: url.protocol === "tls:",
    login: user === "" ? undefined : pass === "" ? { token: user } : { user, pass },
  };
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
