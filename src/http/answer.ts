/**
 * What a read answers, before the server adds what every response has. `body` is ready to be sent as it is; `etag`
 * and `revision` say of what it is.
 */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyInit | null;
}

export const JSON_TYPE = "application/json";

/** Joins what `Vary` and `Link` may name more than once. */
export function merged(name: "Vary" | "Link", ...values: (string | undefined)[]): Record<string, string> {
  const said = values.filter((value) => value !== undefined);
  return said.length === 0 ? {} : { [name]: said.join(", ") };
}
