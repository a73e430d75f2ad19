/**
 * `gazetteer token`: makes, lists and revokes tokens for programs. A token is a user of the users file whose secret is random
 * and is sent as Bearer: its name is the user name in the log, in metrics and for limits. The file has only a hash, so the
 * token is printed once, on standard output and without anything around it, so that it can be written to a file.
 */
import { hashTokenSecret, randomTokenSecret, schemeOf } from "../api/auth/password.ts";
import { changeUser, parseEntry, readUsersFile, type UserEntry, UsersError } from "../api/auth/users-file.ts";
import { formatToken, parseToken } from "../lib/access-token.ts";
import { errorMessage } from "../lib/error-message.ts";
import { OUTPUT_FLAG, wantsColour, wantsJson } from "./client-command.ts";
import { type Arguments, type Command, type Context, EXIT_STATUS, usageFailure } from "./command.ts";
import { parseDurationMs } from "./operands.ts";
import { changeFile, ROLE_FLAG, removed, roleOf } from "./passwd.ts";
import { type Column, renderJson, renderTable } from "./table.ts";

type Action = (path: string, name: string, args: Arguments, context: Context) => Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = { add, list, revoke };

export const tokenCommand: Command = {
  name: "token",
  operands: "add|list|revoke USERSFILE [NAME]",
  summary: "Make, list or revoke tokens for programs.",
  flags: [
    { ...ROLE_FLAG, help: `Of add. ${ROLE_FLAG.help} Default reader` },
    {
      name: "expires",
      value: "TIME",
      help: "Of add: when it ends, as 12h, 90d, 2027-01-31 or 2027-01-31T08:00:00Z. Default never",
    },
    { ...OUTPUT_FLAG, help: "Of list: text or json. Default text" },
  ],
  notes: `
  add     Make a token and print it, once: only its hash is stored. Its NAME is that of a user, with letters, digits, - and _.
  list    Show the tokens of the file. The tokens themselves cannot be shown.
  revoke  Remove a token. A service that uses the file refuses it within about a second, and ends its streams.

A token is sent as Authorization: Bearer TOKEN. Commands take it in GAZETTEER_CREDENTIALS, or from gazetteer login --token.

  (umask 077; gazetteer token add data/users prometheus --role metrics --expires 90d > prometheus.token)
  curl -H "Authorization: Bearer $(cat prometheus.token)" http://127.0.0.1:8181/metrics
  gazetteer token revoke data/users prometheus`,
  async run(args, context) {
    const [action = "", path, name = "", ...extra] = args.positionals;
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!run) throw usageFailure(`wants one of ${Object.keys(ACTIONS).join(", ")}`);
    if (path === undefined || (name === "") !== (run === list) || extra.length > 0)
      throw usageFailure(`${action} wants USERSFILE${run === list ? "" : " NAME"}`);
    await run(path, name, args, context);
    return EXIT_STATUS.ok;
  },
};

async function add(path: string, name: string, args: Arguments, context: Context): Promise<void> {
  const secret = randomTokenSecret();
  const token = formatToken({ name, secret });
  if (!parseToken(token))
    throw usageFailure(
      "the NAME of a token has at most 64 letters, digits, - and _, and begins with no sign",
    );
  const expires = args.one("expires");
  const expiresAt = expires === undefined ? undefined : parseExpiry(expires, Date.now());
  const entry: UserEntry = { hash: hashTokenSecret(secret), role: roleOf(args) ?? "reader", expiresAt };
  const make = (before: UserEntry | undefined) => {
    if (!before) return entry;
    const advice = isToken(before) ? "revoke it first" : "it is a user with a password";
    throw new UsersError(`${path} has ${name} already; ${advice}, or choose another name`);
  };
  await changeFile(path, () => changeUser(path, name, make));
  await context.err(
    `${path}: added ${name} (${entry.role}, ${expiryText(entry)}); the token is shown only now\n`,
  );
  await context.out(`${token}\n`);
}

/** Returns epoch milliseconds, in whole seconds as the file has them. */
function parseExpiry(text: string, nowMs: number): number {
  const duration = parseDurationMs(text);
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const time = duration === undefined ? (isTime ? Date.parse(text) : Number.NaN) : nowMs + duration;
  // Years of more than four digits cannot be written to the file.
  if (!(time < Date.UTC(10_000, 0)))
    throw usageFailure(`--expires ${text} is not 12h, 90d, 2027-01-31 or 2027-01-31T08:00:00Z`);
  if (time <= nowMs) throw usageFailure(`--expires ${text} is in the past`);
  return Math.floor(time / 1000) * 1000;
}

interface TokenRow {
  readonly name: string;
  readonly role: string;
  readonly expires: string | undefined;
  readonly expired: boolean;
}

const COLUMNS: readonly Column<TokenRow>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "ROLE", cell: ({ role }) => role },
  { title: "EXPIRES", cell: ({ expires }) => expires ?? "never" },
  { title: "EXPIRED", cell: ({ expired }) => expired, styles: { yes: "red" } },
];

async function list(path: string, _name: string, args: Arguments, context: Context): Promise<void> {
  const isJson = wantsJson(args);
  const tokens = await readTokens(path);
  const rows = tokens.map(([name, { role, expiresAt }]) => ({
    name,
    role,
    expires: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    expired: expiresAt !== undefined && expiresAt <= Date.now(),
  }));
  await context.out(isJson ? renderJson(rows) : renderTable(rows, COLUMNS, { colour: wantsColour(context) }));
}

async function readTokens(path: string): Promise<[name: string, entry: UserEntry][]> {
  try {
    return [...(await readUsersFile(path))].flatMap(([name, text]) => {
      const parsed = parseEntry(text);
      return parsed.ok && isToken(parsed.entry) ? [[name, parsed.entry]] : [];
    });
  } catch (error) {
    throw usageFailure(
      error instanceof UsersError ? error.message : `${path} cannot be read: ${errorMessage(error)}`,
    );
  }
}

async function revoke(path: string, name: string, _args: Arguments, context: Context): Promise<void> {
  const remove = (before: UserEntry | undefined) => {
    if (before && !isToken(before))
      throw new UsersError(
        `${name} is not a token; gazetteer passwd --delete ${path} ${name} removes the user`,
      );
    return removed(before, path, name);
  };
  await changeFile(path, () => changeUser(path, name, remove));
  await context.out(`${path}: revoked ${name}\n`);
}

const isToken = ({ hash }: UserEntry): boolean => schemeOf(hash) === "bearer";

const expiryText = ({ expiresAt }: UserEntry): string =>
  expiresAt === undefined ? "never expires" : `expires ${new Date(expiresAt).toISOString()}`;
