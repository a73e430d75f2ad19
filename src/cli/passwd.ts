/**
 * `gazetteer passwd`: adds a user to a users file, or sets a new password. A running service watches the file, so the
 * change is effective within about a second. On a terminal the password is typed twice and not shown; otherwise it is
 * one line of standard input. It is never an argument, because every user of the machine can read those.
 */
import { hashPassword } from "../api/auth/password.ts";
import { CERTIFICATE_ONLY, isRole, nameFault, ROLES, storeUser, UsersError } from "../api/auth/users-file.ts";
import { errorMessage } from "../lib/error-message.ts";
import { type Command, type Context, EXIT_STATUS, usageFailure } from "./command.ts";
import { promptLines, readLine } from "./prompt.ts";

export const passwdCommand: Command = {
  name: "passwd",
  operands: "USERSFILE NAME",
  summary: "Add a user to a users file, or set a new password.",
  flags: [
    {
      name: "role",
      value: "ROLE",
      choices: ROLES,
      help: `What the user may read: ${ROLES.join(", ")} (/metrics only). Default: as before, or reader`,
    },
    { name: "certificate", help: "The user has no password and needs a client certificate with this CN." },
  ],
  notes: `
Prompts for the password on a terminal; otherwise reads one line of standard input:
  printf '%s\\n' "$PASSWORD" | gazetteer passwd data/users ann
Creates the file if it does not exist. A service that uses it applies the change within about a second.`,
  async run(args, context) {
    const [path, name, ...extra] = args.positionals;
    if (path === undefined || name === undefined || extra.length > 0)
      throw usageFailure("wants USERSFILE NAME");
    const fault = nameFault(name);
    if (fault) throw usageFailure(fault);
    const role = args.one("role");
    if (role !== undefined && !isRole(role)) throw usageFailure(`--role must be one of ${ROLES.join(", ")}`);
    const isCertificateUser = args.has("certificate");
    const hash = isCertificateUser ? CERTIFICATE_ONLY : await hashPassword(await readPassword(name, context));
    let outcome: string;
    try {
      outcome = await storeUser(path, name, hash, role);
    } catch (error) {
      if (error instanceof UsersError) throw usageFailure(error.message);
      throw usageFailure(`${path} cannot be written: ${errorMessage(error)}`);
    }
    const change = isCertificateUser ? "needs a certificate now" : "has a new password";
    await context.out(`${path}: ${outcome === "added" ? `added ${name}` : `${name} ${change}`}\n`);
    return EXIT_STATUS.ok;
  },
};

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
