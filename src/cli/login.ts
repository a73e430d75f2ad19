/**
 * `gazetteer login`: checks an address and credentials with one read, then stores both for later commands. Nothing is
 * stored when the service does not accept them. The password is typed without echo, or is one line of standard input;
 * `--user` has no counterpart for the password, because every user of the machine can read arguments.
 */
import { createClient } from "../client/client.ts";
import { parseToken } from "../lib/access-token.ts";
import { isLoopback } from "../lib/loopback.ts";
import { asCommandFailure } from "./client-command.ts";
import {
  type Arguments,
  type Command,
  CommandFailure,
  type Context,
  EXIT_STATUS,
  usageFailure,
} from "./command.ts";
import { promptLines, readLine } from "./prompt.ts";
import {
  createTlsFetch,
  DEFAULT_URL,
  environmentCredentials,
  parseServiceUrl,
  readServers,
  type ServiceTarget,
  serversPath,
  TLS_FLAGS,
  tlsFilesOf,
  userOf,
  writeServers,
} from "./service-url.ts";
import { escapeControlCharacters } from "./table.ts";

export const loginCommand: Command = {
  name: "login",
  operands: "URL",
  summary: "Check an address and a password or token, and store them for later commands.",
  flags: [
    { name: "user", short: "u", value: "NAME", help: "The user. Default: the one in the URL, or a prompt" },
    { name: "token", help: "Log in with a token of gazetteer token add in place of a user and a password." },
    { name: "name", value: "NAME", help: "Name of the server, for --server. Default its host and port" },
    {
      name: "allow-plaintext",
      help: "Send the password or token to another machine over plain HTTP without asking.",
    },
    ...TLS_FLAGS,
  ],
  notes: `
Prompts for what is missing on a terminal; otherwise the password or token is one line of standard input:
  printf '%s\\n' "$PASSWORD" | gazetteer login ${DEFAULT_URL} --user ann
  gazetteer login ${DEFAULT_URL} --token < ann.token
Without a user it takes GAZETTEER_CREDENTIALS='<USERNAME>:<PASSWORD>', or a token, where that is set.

The server becomes the current one. It is stored in $XDG_CONFIG_HOME/gazetteer/servers.json (default ~/.config), readable
by you alone. With --cert and without a user, the certificate is the credential; the paths of --cacert, --cert and --key
are stored too. The password is sent only to the scheme, host and port of URL; to another machine over plain HTTP only
after a question, or with --allow-plaintext. gazetteer servers lists what is stored.`,
  async run(args, context) {
    const [text, ...extra] = args.positionals;
    if (text === undefined || extra.length > 0) throw usageFailure(`wants one URL, such as ${DEFAULT_URL}`);
    const { url, credentials: inUrl } = parseServiceUrl(text, "URL");
    if (!args.has("allow-plaintext")) await confirmPlaintext(url, context);
    const tlsFiles = tlsFilesOf(args);
    const hasUser = args.has("user") || inUrl !== undefined;
    if (args.has("token") && hasUser) throw usageFailure("a token names its user; give --token alone");
    const hasCertificate = tlsFiles?.cert !== undefined && !hasUser && !args.has("token");
    const credentials = hasCertificate ? undefined : await readCredentials(args, url, inUrl, context);
    const plainUrl = withoutCredentials(url);
    await verify({ url: plainUrl, urlFrom: "URL", credentials, credentialsFrom: "login", tlsFiles });

    const name = args.one("name") ?? url.host;
    if (name === "") throw usageFailure("--name may not be empty");
    const path = serversPath(context.env);
    const { servers } = await readServers(path);
    const href = plainUrl.href.replace(/\/+$/, "");
    const stored = {
      url: href,
      ...(credentials !== undefined && { credentials }),
      ...(tlsFiles && { tls: tlsFiles }),
    };
    await writeServers(path, { current: name, servers: { ...servers, [name]: stored } });
    const user = credentials === undefined ? "the user of the certificate" : userOf(credentials);
    await context.out(
      escapeControlCharacters(`logged in to ${href} as ${user}; stored as the current server, ${name}`) +
        `\n${path}\n`,
    );
    return EXIT_STATUS.ok;
  },
};

/** Requires a confirmation if the password would cross the network unencrypted, now and with every later command. */
async function confirmPlaintext({ protocol, hostname, host }: URL, context: Context): Promise<void> {
  if (protocol !== "http:" || isLoopback(hostname)) return;
  const what = `${host} is another machine, and the password would be sent to it unencrypted`;
  if (!context.stdin.isTerminal) throw usageFailure(`${what}; use https://, or give --allow-plaintext`);
  const text = `${escapeControlCharacters(what)}. Send it? [y/N] `;
  const [answer = ""] = await promptLines([{ text, echo: true }], context);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure("nothing was sent or stored; use https://");
}

/** Returns a token, or `NAME:PASSWORD` from the URL, from `--user` and a prompt, from the environment, or from two prompts. */
async function readCredentials(
  args: Arguments,
  url: URL,
  inUrl: string | undefined,
  context: Context,
): Promise<string> {
  if (args.has("token")) {
    const token = await readSecret("Token: ", context);
    if (!parseToken(token))
      throw usageFailure("that is not a token of gazetteer token add; nothing was sent");
    return token;
  }
  const userInUrl = inUrl?.slice(0, inUrl.indexOf(":"));
  const user = args.one("user") ?? userInUrl;
  if (user?.includes(":")) throw usageFailure("a user name may not contain a colon");
  if (inUrl !== undefined && url.password !== "" && user === userInUrl) return inUrl;
  if (user !== undefined) return `${user}:${await readSecret("Password: ", context)}`;
  const inEnvironment = environmentCredentials(context.env);
  if (inEnvironment !== undefined) return inEnvironment;
  if (!context.stdin.isTerminal) throw usageFailure("wants --user NAME, and the password on standard input");
  const prompts = [{ text: "User: ", echo: true }, { text: "Password: " }];
  const [typedUser = "", password = ""] = await promptLines(prompts, context);
  if (typedUser === "" || typedUser.includes(":")) throw usageFailure("a user name is text without a colon");
  return `${typedUser}:${password}`;
}

async function readSecret(prompt: string, context: Context): Promise<string> {
  if (!context.stdin.isTerminal) return readLine(context.stdin);
  const [secret = ""] = await promptLines([{ text: prompt }], context);
  return secret;
}

/** Checks the address and the credentials with one read that needs credentials. */
async function verify(address: ServiceTarget): Promise<void> {
  let topology: unknown;
  try {
    const fetch = await createTlsFetch(address.tlsFiles);
    topology = await createClient({ ...address, fetch }).topology();
  } catch (error) {
    throw asCommandFailure(error, address);
  }
  const isTopology = typeof topology === "object" && topology !== null && "devices" in topology;
  if (!isTopology) throw new CommandFailure(`${address.url.href} is not a Gazetteer; nothing was stored`);
}

function withoutCredentials(url: URL): URL {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  return plain;
}
