/** What the commands that read from a running service share: flags, arguments, the client, and its failures. */
import { type Client, createClient } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import type { Query, WatchTarget } from "../client/types.ts";
import { nearest } from "../lib/nearest.ts";
import type { Arguments, Flag } from "./args.ts";
import type { Context } from "./command.ts";
import { CommandFailure, usageFailure } from "./failure.ts";
import { DEFAULT_URL, parseServiceAddress } from "./service-url.ts";
import { escapeControlCharacters } from "./table.ts";

export const RESOURCES = ["devices", "links", "hosts", "topology"] as const satisfies readonly WatchTarget[];
export type Resource = (typeof RESOURCES)[number];

export const URL_FLAG: Flag = {
  name: "url",
  value: "URL",
  help: `Address of the service. Default ${DEFAULT_URL}`,
};
export const CREDENTIALS_NOTE =
  "GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' are the credentials; those in the URL take precedence.";

/** Runs `use` with a client of the service that the flags and the environment name. */
export async function withClient(
  args: Arguments,
  context: Context,
  use: (client: Client) => Promise<void>,
): Promise<void> {
  const address = parseServiceAddress(args.one(URL_FLAG.name), context.env.GAZETTEER_CREDENTIALS);
  try {
    await use(createClient(address));
  } catch (error) {
    throw asCommandFailure(error, address.credentials !== undefined);
  }
}

export function parseResource(name: string | undefined): Resource {
  const resource = RESOURCES.find((candidate) => candidate === name);
  if (resource) return resource;
  if (name === undefined) throw usageFailure(`wants one of ${RESOURCES.join(", ")}`);
  const near = nearest(name, RESOURCES);
  const hint = near === undefined ? `there are ${RESOURCES.join(", ")}` : `did you mean ${near}?`;
  throw usageFailure(`there is no ${JSON.stringify(name)}; ${hint}`);
}

/** `NAME=VALUE` arguments as query parameters. */
export function parseQuery(parameters: readonly string[]): Query {
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

/** The `-o` of commands that print text or JSON. */
export function wantsJson(args: Arguments): boolean {
  const output = args.one("output") ?? "text";
  if (output === "text" || output === "json") return output === "json";
  throw usageFailure(`-o ${output}: there is text, json`);
}

/** Colour is for terminals, unless NO_COLOR is set (https://no-color.org). */
export const wantsColour = ({ terminal, env }: Context): boolean => terminal && !env.NO_COLOR;

/** Details come from the network, so control characters in them are escaped. Unexpected errors stay as they are. */
function asCommandFailure(error: unknown, hasCredentials: boolean): unknown {
  if (error instanceof SyntaxError) {
    return new CommandFailure("the response is not JSON; is that a Gazetteer?");
  }
  if (!(error instanceof ClientError)) return error;
  const detail = escapeControlCharacters(error.detail);
  if (error.code === "protocol") return new CommandFailure(detail);
  if (error.status === 0) return new CommandFailure(`${detail}; is the service running there?`);
  const hint =
    error.status === 401 && !hasCredentials
      ? "; set GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>' or put them in the URL"
      : "";
  return new CommandFailure(`${error.status}: ${detail}${hint}`);
}
