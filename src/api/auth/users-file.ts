/**
 * The users file: `name:hash` a line, blank lines and `#` comments as a person likes them. Read strictly (a line that
 * is not understood is a fault with its number, never a user less), written whole and by rename, so that a reader
 * never sees half of it.
 */
import { chmod, chown, open, realpath, rename, rm, stat } from "node:fs/promises";
import { hashFault } from "./password.ts";

export const MAX_FILE_BYTES = 1_048_576;
const MAX_NAME_CHARACTERS = 255;

/** Name → hash, in the order of the file. */
export type StoredUsers = ReadonlyMap<string, string>;

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Meant for the operator: says the file and the line, or what to do. */
export class UsersError extends Error {
  override readonly name = "UsersError";
}

/** What is wrong with `name` as a user name; undefined when nothing is. RFC 7617 rules out colons and controls. */
export function nameFault(name: string): string | undefined {
  if (name === "") return "the user name is empty";
  if (name.length > MAX_NAME_CHARACTERS)
    return `the user name is longer than ${MAX_NAME_CHARACTERS} characters`;
  if (name.includes(":")) return "a user name may not contain a colon";
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return "a user name may not contain control characters";
  return undefined;
}

export function parseUsers(text: string, path: string): StoredUsers {
  const users = new Map<string, string>();
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const fail = (what: string) => new UsersError(`${path}:${index + 1}: ${what}`);
    const colon = line.indexOf(":");
    if (colon < 0) throw fail("not NAME:HASH; make the line with gazetteer passwd");
    const name = line.slice(0, colon).normalize("NFC");
    const hash = line.slice(colon + 1);
    const fault = nameFault(name) ?? hashFault(hash);
    if (fault) throw fail(`${fault}; make the line with gazetteer passwd`);
    if (users.has(name)) throw fail(`user ${name} is there twice`);
    users.set(name, hash);
  }
  return users;
}

export async function readUsersFile(path: string): Promise<StoredUsers> {
  return parseUsers(await readText(path), path);
}

async function readText(path: string): Promise<string> {
  const handle = await open(path, "r");
  try {
    const about = await handle.stat();
    if (!about.isFile()) throw new UsersError(`${path}: not a file`);
    if (about.size > MAX_FILE_BYTES) throw new UsersError(`${path}: larger than ${MAX_FILE_BYTES} bytes`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** `text` with the line of `name` replaced, or added at the end; every other line stays as it is. */
export function withUser(text: string, name: string, hash: string): string {
  const line = `${name}:${hash}`;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const at = lines.findIndex((existing) => existing.trim().normalize("NFC").startsWith(`${name}:`));
  if (at < 0) lines.push(line);
  else lines[at] = line;
  return `${lines.join("\n")}\n`;
}

/** Adds or replaces one user. Gives what happened. */
export async function storeUser(path: string, name: string, hash: string): Promise<"added" | "replaced"> {
  const given = name.normalize("NFC");
  const existing = await existingFile(path);
  const target = existing ? await realpath(path) : path;
  const text = existing ? await readText(target) : "";
  const known = parseUsers(text, path).has(given);
  await replaceFile(target, withUser(text, given, hash), existing);
  return known ? "replaced" : "added";
}

async function existingFile(path: string): Promise<Owner | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Readable by its owner alone, and owned by whom it was: root may change a password for a service that is not root. */
async function replaceFile(path: string, text: string, owner: Owner | undefined): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await chmod(temporary, 0o600);
    if (owner && process.getuid?.() === 0) await chown(temporary, owner.uid, owner.gid);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
