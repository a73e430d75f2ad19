/**
 * The users file: each line is `name:hash`, or `name:certificate` for a user without a password, followed by `:role` for a
 * user that may not read everything. Blank lines and `#` comments are allowed. Parsing is strict: a line that cannot be
 * parsed is an error with its line number, because skipping it would silently lock a user out. The content is written to a
 * temporary file that is renamed, so that a concurrent reader never sees a part of it.
 */
import { open } from "node:fs/promises";
import { type FileOwner, READ_NO_FOLLOW, replaceFile, withPinnedFile } from "../../lib/replace-file.ts";
import { hashFault } from "./password.ts";

export const MAX_FILE_BYTES = 1_048_576;
const MAX_NAME_CHARACTERS = 255;
/** The word in place of the hash of a user who has no password and needs a client certificate. */
export const CERTIFICATE_ONLY = "certificate";

/** The roles: a reader may read everything; the role `metrics` may read only `/metrics` and the health endpoints. */
export const ROLES = ["reader", "metrics"] as const;
export type Role = (typeof ROLES)[number];

/** The entries by user name, in the order of the file: the hash, followed by `:role` if it is not `reader`. */
export type StoredUsers = ReadonlyMap<string, string>;

export const isRole = (text: string): text is Role => ROLES.some((role) => role === text);

/** Splits the part of a line after the name. The role is undefined if there is no such role. */
export function parseEntry(entry: string): { readonly hash: string; readonly role: Role | undefined } {
  const colon = entry.indexOf(":");
  if (colon < 0) return { hash: entry, role: "reader" };
  const role = entry.slice(colon + 1);
  return { hash: entry.slice(0, colon), role: isRole(role) ? role : undefined };
}

const formatEntry = (hash: string, role: Role): string => (role === "reader" ? hash : `${hash}:${role}`);

/** Faults in the users, shown to the operator. Each is one line that names the file and the position, or what to do. */
export class UsersError extends Error {
  override readonly name = "UsersError";
  readonly faults: readonly string[];

  /** The message is the first fault. */
  constructor(...faults: readonly string[]) {
    super(faults[0]);
    this.faults = faults;
  }
}

/** Returns why `name` is not a valid user name, or undefined. RFC 7617 excludes colons and control characters. */
export function nameFault(name: string): string | undefined {
  if (name === "") return "the user name is empty";
  if (name.length > MAX_NAME_CHARACTERS)
    return `the user name is longer than ${MAX_NAME_CHARACTERS} characters`;
  if (name.includes(":")) return "a user name may not contain a colon";
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return "a user name may not contain control characters";
  return undefined;
}

/** Parses the text of a users file. Throws a `UsersError` with all faults. */
export function parseUsers(text: string, path: string): StoredUsers {
  const users = new Map<string, string>();
  const faults: string[] = [];
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const start = raw.indexOf(line);
    const addFault = (offset: number, fault: string) =>
      faults.push(`${path}:${index + 1}:${start + offset + 1}: ${fault}`);
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).normalize("NFC");
    const entry = line.slice(colon + 1);
    const { hash, role } = parseEntry(entry);
    const badName = colon < 0 ? "not NAME:HASH" : nameFault(name);
    const badHash = hash === CERTIFICATE_ONLY ? undefined : hashFault(hash);
    if (badName) addFault(0, `${badName}; make the line with gazetteer passwd`);
    else if (badHash) addFault(colon + 1, `${badHash}; make the line with gazetteer passwd`);
    else if (!role) addFault(colon + 1 + hash.length + 1, `the role must be one of ${ROLES.join(", ")}`);
    else if (users.has(name)) addFault(0, `user ${name} is listed twice; remove one of the lines`);
    else users.set(name, entry);
  }
  if (faults.length > 0) throw new UsersError(...faults);
  return users;
}

export async function readUsersFile(path: string): Promise<StoredUsers> {
  const { text } = await withPinnedFile(path, (file) => readText(file, path));
  return parseUsers(text, path);
}

interface UsersText {
  readonly text: string;
  readonly owner?: FileOwner;
}

/** Reads `file`. `path` is the name in error messages. */
async function readText(file: string, path: string): Promise<UsersText> {
  const handle = await open(file, READ_NO_FOLLOW);
  try {
    const owner = await handle.stat();
    if (!owner.isFile()) throw new UsersError(`${path}: not a file`);
    // The read is bounded even if the file grows meanwhile.
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_FILE_BYTES) throw new UsersError(`${path}: larger than ${MAX_FILE_BYTES} bytes`);
    return { text: buffer.toString("utf8", 0, bytesRead), owner };
  } finally {
    await handle.close();
  }
}

/** Replaces the line of `name`, or appends one. Every other line stays as it is. */
function setUserLine(text: string, name: string, entry: string): string {
  const line = `${name}:${entry}`;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const index = lines.findIndex((existing) => existing.trim().normalize("NFC").startsWith(`${name}:`));
  if (index < 0) lines.push(line);
  else lines[index] = line;
  return `${lines.join("\n")}\n`;
}

/** Adds or replaces a user. Without `role` a known user keeps its role, and a new one may read everything. */
export async function storeUser(
  path: string,
  name: string,
  hash: string,
  role?: Role,
): Promise<"added" | "replaced"> {
  const normalizedName = name.normalize("NFC");
  // A symbolic link stays, and the file that it points to is replaced.
  return withPinnedFile(path, async (file) => {
    const { text, owner } = await readText(file, path).catch(emptyWhenMissing);
    const before = parseUsers(text, path).get(normalizedName);
    const keptRole = before === undefined ? undefined : parseEntry(before).role;
    const entry = formatEntry(hash, role ?? keptRole ?? "reader");
    // The owner stays, because root may change a password for a service that runs as another user.
    await replaceFile(file, setUserLine(text, normalizedName, entry), owner);
    return before === undefined ? "added" : "replaced";
  });
}

function emptyWhenMissing(error: unknown): UsersText {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return { text: "" };
  throw error;
}
