/** The parts that commands reading from a running service share: flags, arguments, the client, and its failures. */

import { type Client, createClient } from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import type { ConnectionState, Query } from "../client/types.ts";
import { parseToken } from "../lib/access-token.ts";
import {
  type Arguments,
  type Command,
  CommandFailure,
  type Context,
  EXIT_STATUS,
  type Flag,
  usageFailure,
} from "./command.ts";
import { parseTimeArgument } from "./operands.ts";
import {
  type AddressOrigin,
  createTlsFetch,
  DEFAULT_URL,
  readServers,
  resolveServiceAddress,
  type ServiceTarget,
  serversPath,
  TLS_FLAGS,
  tlsFilesOf,
} from "./service-url.ts";
import { catchStopSignals } from "./signals.ts";
import { escapeControlCharacters } from "./table.ts";

/** The flags that select the service to read from. */
export const SERVICE_FLAGS: readonly Flag[] = [
  { name: "url", value: "URL", help: `Address of the service. Default ${DEFAULT_URL}` },
  { name: "server", value: "NAME", help: "A service that gazetteer login stored. Default the current one" },
  ...TLS_FLAGS,
];
const SERVICE_NOTE = `
The service is the one of --url, else --server, else GAZETTEER_URL, else the current server that gazetteer login stored,
else ${DEFAULT_URL}. GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>', or a token, are the credentials; those in the
address take precedence, and those stored for the server that --server names. A stored password is sent only to the scheme,
host and port that it was stored for.`.trim();

/** A command that reads from a service. The flags that select the service and the note about them are added. */
export const createClientCommand = ({
  read,
  ...command
}: Omit<Command, "run"> & {
  /** Returns the exit status, or throws a CommandFailure. Errors of the client become one. */
  read(client: Client, args: Arguments, context: Context): Promise<number>;
}): Command => ({
  ...command,
  flags: [...command.flags, ...SERVICE_FLAGS],
  notes: `${command.notes ?? ""}\n\n${SERVICE_NOTE}`,
  run: (args, context) => withClient(args, context, (client) => read(client, args, context)),
});

/** Calls `use` with a client of the service that the flags, the environment or the servers file select. */
export async function withClient<T>(
  args: Arguments,
  { env }: Context,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const flags = { url: args.one("url"), server: args.one("server"), tlsFiles: tlsFilesOf(args) };
  const address = await resolveServiceAddress(flags, env, () => readServers(serversPath(env)));
  try {
    return await use(createClient({ ...address, fetch: await createTlsFetch(address.tlsFiles) }));
  } catch (error) {
    throw asCommandFailure(error, address);
  }
}

/** The flag for the query parameter `at`. */
export const AT_FLAG: Flag = {
  name: "at",
  value: "TIME",
  help: "As of a revision, a time, or a time ago (90s, 5m, 2h, 3d, 1w). The same as at=TIME. Default now",
};

/** Adds the value of `--at` to the query, and replaces a time ago in `at` by the time. */
export function withAt(query: Query, args: Arguments): Query {
  const flag = args.one(AT_FLAG.name);
  if (flag !== undefined && query.at !== undefined) throw usageFailure("at is given twice");
  const text = flag ?? query.at;
  return text === undefined ? query : { ...query, at: parseTimeArgument(String(text), Date.now()) };
}

/** The flag `-o` of commands that print text or JSON. */
export const OUTPUT_FLAG: Flag = {
  name: "output",
  short: "o",
  value: "FORMAT",
  choices: ["text", "json"],
  help: "text or json. Default text",
};

export function wantsJson(args: Arguments): boolean {
  const output = args.one(OUTPUT_FLAG.name) ?? "text";
  if (output === "text" || output === "json") return output === "json";
  throw usageFailure(`-o ${output}: there is text, json`);
}

/** Whether to use colour: on a terminal, unless NO_COLOR is set (https://no-color.org). */
export const wantsColour = ({ terminal, env }: Context): boolean => terminal && !env.NO_COLOR;

/** Control characters in details are escaped, because details come from the network. Other errors are returned as is. */
export function asCommandFailure(error: unknown, address: ServiceTarget): unknown {
  if (error instanceof SyntaxError) {
    return new CommandFailure("the response is not JSON; is that a Gazetteer?");
  }
  if (isLostConnection(error)) {
    const what = `the connection to ${address.url.host} was lost in the middle of a response (${error.code})`;
    return new CommandFailure(withHint(what, "what came so far is not complete: try again"));
  }
  if (!(error instanceof ClientError)) return error;
  const detail = escapeControlCharacters(error.detail);
  if (error.code === "protocol") return new CommandFailure(detail);
  if (error.status === 0 && /CERT|LEAF_SIGNATURE/.test(detail)) {
    return new CommandFailure(withHint(detail, CERTIFICATE_HINT));
  }
  if (error.status === 0 && address.url.protocol === "https:" && detail.includes("(EPROTO)")) {
    return new CommandFailure(
      withHint(
        detail,
        `there is no TLS at that port; if it serves plain HTTP, give http://${address.url.host}`,
      ),
    );
  }
  if (error.status === 0) {
    return new CommandFailure(
      withHint(detail, `is the service running there? ${ADDRESS_HINTS[address.urlFrom]}`),
    );
  }
  const text = `${error.status}: ${detail}`;
  // A fault of the service itself is in its log.
  if (error.status === 500 && error.requestId !== undefined)
    return new CommandFailure(withHint(text, `the request is ${error.requestId} in its log`));
  return new CommandFailure(error.status === 401 ? withHint(text, credentialsHint(address)) : text);
}

/** The runtime's error of a body that cannot be read to its end. Errors of files and of standard output name no URL. */
const isLostConnection = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error &&
  "code" in error &&
  typeof error.code === "string" &&
  "path" in error &&
  /^https?:/.test(String(error.path));

/** Appends a hint. Details of the service end with a full stop, which is removed. */
export const withHint = (detail: string, hint: string): string => `${detail.replace(/\.$/, "")}; ${hint}`;

/** The advice when the certificate of the service is not trusted. */
const CERTIFICATE_HINT =
  "its certificate is not trusted, or is not of this name; name its authority with --cacert FILE";

/** The advice when there is no response from the address. */
const ADDRESS_HINTS: Readonly<Record<AddressOrigin, string>> = {
  default: "Start one with gazetteer serve --demo, or name another with --url URL or gazetteer login URL",
  "--url": "Start it, or correct --url",
  "--server": "Start it, or run gazetteer login URL --name NAME with its new address",
  URL: "Start it, or correct the URL; nothing was stored",
  GAZETTEER_URL: "Start it, or correct GAZETTEER_URL",
  "current server": "Start it, or name another with --url URL, --server NAME or gazetteer login URL",
};

/** The advice when the service does not accept the credentials. */
function credentialsHint({ url, credentials, credentialsFrom, urlFrom }: ServiceTarget): string {
  const isToken = parseToken(credentials ?? "") !== undefined;
  const login = `gazetteer login ${url.origin}${url.pathname === "/" ? "" : url.pathname}`;
  switch (credentialsFrom) {
    case "none":
      return `run ${login}, or set GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>'`;
    case "GAZETTEER_CREDENTIALS":
      return `correct GAZETTEER_CREDENTIALS, or unset it and run ${login}`;
    case "address":
      return `correct the user name and password in ${urlFrom}`;
    case "login":
      return isToken ? "nothing was stored" : "check the user name and the password; nothing was stored";
    case "servers file":
      return `the stored ${isToken ? "token" : "password"} is not valid any more; run ${login} again`;
  }
}

// Commands that run until Ctrl-C: SIGINT and SIGTERM end them with exit status 0. Standard output has only the changes; the
// state of the connection goes to standard error.

/** Runs `run` until it ends. `run` must end, with or without an error, when the signal is aborted. */
export async function runUntilStopped(
  context: Context,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using stop = catchStopSignals(() => context.exit(EXIT_STATUS.ok));
  try {
    await run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

/** Reports when the connection is lost and when it is restored. The first connection is not reported. */
export function createConnectionReporter(
  context: Context,
  command: string,
): (state: ConnectionState) => void {
  const report = (text: string) => void context.err(`gazetteer ${command}: ${text}\n`);
  let isLost = false;
  return (state) => {
    if (state.state === "reconnecting" && state.afterMs > 0) {
      isLost = true;
      const reason = escapeControlCharacters(state.reason);
      report(withHint(reason, `trying again in ${(state.afterMs / 1000).toFixed(1)} s`));
    } else if (state.state === "connected" && isLost) {
      isLost = false;
      report("connected again");
    }
  };
}
