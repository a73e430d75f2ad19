/** What a read answers, before the server adds what every answer has. */
import type { Feed } from "./body-source.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, bytes that are ready, or what is made while it is sent. */
  readonly body: string | Uint8Array | Feed | null;
}

export const JSON_TYPE = "application/json";
