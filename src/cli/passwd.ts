/**
 * `gazetteer passwd`: adds a user to a users file, sets a new password, or removes a user. A running service watches the file,
 * so the change is effective within about a second. On a terminal the password is typed twice and not shown; otherwise it is
 * one line of standard input. It is never an argument, because every user of the machine can read those.
 */
import { hashPassword } from "../api/auth/password.ts";
import {
  CERTIFICATE_ONLY,
  changeUser,
  isRole,
  nameFault,
  ROLES,
  type Role,
  storeUser,
  type UserEntry,
  UsersError,
} from "../api/auth/users-file.ts";
import { errorMessage } from "../lib/error-message.ts";
import {
  type Arguments,
  type Command,
  type Context,
  EXIT_STATUS,
  type Flag,
  usageFailure,
} from "./command.ts";
import { promptLines, readLine } from "./prompt.ts";

export const ROLE_FLAG: Flag = {
  name: "role",
  value: "ROLE",
  choices: ROLES,
  help: `What the user may read: ${ROLES.join(", ")} (/metrics only).`,
};

export function roleOf(args: Arguments): Role | undefined {
  const role = args.one(ROLE_FLAG.name);
  if (role === undefined || isRole(role)) return role;
  throw usageFailure(`--role must be one of ${ROLES.join(", ")}`);
}

/** Changes a users file. Faults of the file, and what is wrong with writing it, become usage failures. */
export async function changeFile<T>(path: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof UsersError) throw usageFailure(error.message);
    throw usageFailure(`${path} cannot be written: ${errorMessage(error)}`);
  }
}

export const passwdCommand: Command = {
  name: "passwd",
  operands: "USERSFILE NAME",
  summary: "Add a user to a users file, set a new password, or remove a user.",
  flags: [
    { ...ROLE_FLAG, help: `${ROLE_FLAG.help} Default: as before, or reader` },
    {
      name: "certificate",
      help: "The user has no password: a client certificate with this CN, or a proxy, authenticates it.",
    },
    { name: "delete", help: "Remove the user." },
  ],
  notes: `
Prompts for the password on a terminal; otherwise reads one line of standard input:
  printf '%s\\n' "$PASSWORD" | gazetteer passwd data/users ann
Creates the file if it does not exist. A service that uses it applies the change within about a second; the streams of a
changed or removed user end. Tokens for programs: gazetteer token.`,
  async run(args, context) {
    const [path, name, ...extra] = args.positionals;
    if (path === undefined || name === undefined || extra.length > 0)
      throw usageFailure("wants USERSFILE NAME");
    const fault = nameFault(name);
    if (fault) throw usageFailure(fault);
    if (args.has("delete")) {
      if (args.has("role") || args.has("certificate")) throw usageFailure("--delete is given alone");
      await changeFile(path, () => changeUser(path, name, (before) => removed(before, path, name)));
      await context.out(`${path}: removed ${name}\n`);
      return EXIT_STATUS.ok;
    }
    const role = roleOf(args);
    const isCertificateUser = args.has("certificate");
    const hash = isCertificateUser ? CERTIFICATE_ONLY : await hashPassword(await readPassword(name, context));
    const outcome = await changeFile(path, () => storeUser(path, name, hash, role));
    const change = isCertificateUser ? "needs a certificate now" : "has a new password";
    await context.out(`${path}: ${outcome === "added" ? `added ${name}` : `${name} ${change}`}\n`);
    return EXIT_STATUS.ok;
  },
};

/** The entry of a removed user, which is none. Throws a `UsersError` if there was none before. */
export function removed(before: UserEntry | undefined, path: string, name: string): undefined {
  if (!before) throw new UsersError(`${path} has no ${name}; nothing was changed`);
  return undefined;
}

async function readPassword(name: string, context: Context): Promise<string> {
  const password = context.stdin.isTerminal
    ? await promptTwice(name, context)
    : await readLine(context.stdin);
  if (password === "") throw usageFailure("a password may not be empty");
  if (/[\u0000-\u001f\u007f-\u009f]/.test(password)) {
    throw usageFailure("a password may not contain control characters: HTTP Basic cannot carry them");
  }
  return password;
}

async function promptTwice(name: string, context: Context): Promise<string> {
  const prompts = [{ text: `New password for ${name}: ` }, { text: "The same again: " }];
  const [first = "", second = ""] = await promptLines(prompts, context);
  if (first !== second) throw usageFailure("the two are not the same; nothing was changed");
  return first;
}
