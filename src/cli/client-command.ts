/** What the commands that ask a running service have in common: whom, about what, with which query, and how it fails. */

import { type Client, createClient } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import type { Query, Watched } from "../client/types.ts";
import { nearest } from "../lib/nearest.ts";
import type { Arguments, Flag } from "./args.ts";
import type { Context } from "./command.ts";
import { CommandFailure, usageFailure } from "./failure.ts";
import { DEFAULT_URL, serviceAddress } from "./service-url.ts";
import { harmless } from "./table.ts";

export const RESOURCES = ["devices", "links", "hosts", "topology"] as const satisfies readonly Watched[];
export type Resource = (typeof RESOURCES)[number];

export const URL_FLAG: Flag = {
  name: "url",
  value: "URL",
  help: `Where the service is. Default ${DEFAULT_URL}`,
};
export const CREDENTIALS_NOTE =
  "GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' is who asks; credentials in the URL come before it.";

/** Does what is asked with a client of the service that the flags and the environment name; says so when it fails. */
export async function asking(
  args: Arguments,
  context: Context,
  ask: (client: Client) => Promise<void>,
): Promise<void> {
  const address = serviceAddress(args.one(URL_FLAG.name), context.env.GAZETTEER_CREDENTIALS);
  try {
    await ask(createClient(address));
  } catch (error) {
    throw failureOf(error, address.credentials !== undefined);
  }
}

export function resourceNamed(word: string | undefined): Resource {
  const found = RESOURCES.find((resource) => resource === word);
  if (found) return found;
  if (word === undefined) throw usageFailure(`wants one of ${RESOURCES.join(", ")}`);
  const near = nearest(word, RESOURCES);
  const hint = near === undefined ? `there are ${RESOURCES.join(", ")}` : `did you mean ${near}?`;
  throw usageFailure(`there is no ${JSON.stringify(word)}; ${hint}`);
}

export function queryOf(parameters: readonly string[]): Query {
  const query = new Map<string, string>();
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (equals < 1) throw usageFailure(`${JSON.stringify(parameter)} is not NAME=VALUE`);
    const name = parameter.slice(0, equals);
    if (query.has(name)) throw usageFailure(`${name}= is given twice; several values are joined by commas`);
    query.set(name, parameter.slice(equals + 1));
  }
  return Object.fromEntries(query);
}

/** `-o` where there is text for people and JSON for programs. */
export function wantsJson(args: Arguments): boolean {
  const output = args.one("output") ?? "text";
  if (output === "text" || output === "json") return output === "json";
  throw usageFailure(`-o ${output}: there is text, json`);
}

function failureOf(error: unknown, withCredentials: boolean): unknown {
  if (!(error instanceof ClientError)) {
    if (error instanceof SyntaxError)
      return new CommandFailure("the answer is not JSON; is that a Gazetteer?");
    return error;
  }
  if (error.code === "protocol") return new CommandFailure(harmless(error.detail));
  if (error.status === 0)
    return new CommandFailure(`${harmless(error.detail)}; is the service running there?`);
  const hint =
    error.status === 401 && !withCredentials
      ? "; set GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' or put them in the URL"
      : "";
  return new CommandFailure(`${error.status}: ${harmless(error.detail)}${hint}`);
}
