/**
 * `gazetteer passwd`: adds a user to a users file, or gives one a new password. A running service follows the file,
 * so the change counts within about a second. The password is asked for twice without being shown; in a script it is
 * one line on standard input. Never an argument: those are for everybody on the machine to read.
 */
import { hashPassword } from "../api/auth/password.ts";
import { nameFault, storeUser, UsersError } from "../api/auth/users-file.ts";
import type { Command, Context } from "./command.ts";
import { CommandFailure, reasonOf, STATUS, usageFailure } from "./failure.ts";
import { readHidden, readLine } from "./prompt.ts";

export const passwdCommand: Command = {
  name: "passwd",
  operands: "USERSFILE NAME",
  summary: "Add a user to a users file, or set a new password.",
  flags: [],
  notes: `
Asks for the password, or reads one line of standard input where that is no terminal:
  printf '%s\\n' "$PASSWORD" | gazetteer passwd data/users ann
The file is made when it is not there. A service that uses it follows within about a second.`,
  async run(args, context) {
    const [path, name, ...more] = args.positionals;
    if (path === undefined || name === undefined || more.length > 0)
      throw usageFailure("wants USERSFILE NAME");
    const fault = nameFault(name);
    if (fault) throw usageFailure(fault);
    const password = await askPassword(name, context);
    let done: string;
    try {
      done = await storeUser(path, name, await hashPassword(password));
    } catch (error) {
      if (error instanceof UsersError) throw new CommandFailure(error.message, STATUS.usage);
      throw new CommandFailure(`${path} cannot be written: ${reasonOf(error)}`, STATUS.usage);
    }
    await context.out(`${path}: ${done === "added" ? `added ${name}` : `${name} has a new password`}\n`);
    return STATUS.ok;
  },
};

async function askPassword(name: string, context: Context): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice(name, context) : await readLine();
  if (password === "") throw usageFailure("a password may not be empty");
  if (/[\u0000-\u001f\u007f-\u009f]/.test(password)) {
    throw usageFailure("a password may not contain control characters: HTTP Basic cannot carry them");
  }
  return password;
}

async function askTwice(name: string, context: Context): Promise<string> {
  const prompts = [`New password for ${name}: `, "The same again: "];
  const [first = "", second = ""] = await readHidden(prompts, (text) => context.err(text));
  if (first !== second) throw usageFailure("the two are not the same; nothing was changed");
  return first;
}
