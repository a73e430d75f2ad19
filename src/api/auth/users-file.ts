/**
 * The users file: each line is `name:hash`, or `name:certificate` for a user without a password, followed by `:role` for a
 * user that may not read everything, and by `:role:time` for one that expires. The hash is that of a password or of a token.
 * Blank lines and `#` comments are allowed. Parsing is strict: a line that cannot be parsed is an error with its line number,
 * because skipping it would silently lock a user out. The content is written to a temporary file that is renamed, so that a
 * concurrent reader never sees a part of it.
 */
import { open } from "node:fs/promises";
import { type FileOwner, READ_NO_FOLLOW, replaceFile, withPinnedFile } from "../../lib/replace-file.ts";
import { hashFault, schemeOf } from "./password.ts";

export const MAX_FILE_BYTES = 1_048_576;
const MAX_NAME_CHARACTERS = 255;
/** The word in place of the hash of a user who has no password and needs a client certificate. */
export const CERTIFICATE_ONLY = "certificate";

/** The roles: a reader may read everything; the role `metrics` may read only `/metrics` and the health endpoints. */
export const ROLES = ["reader", "metrics"] as const;
export type Role = (typeof ROLES)[number];

/** The part of each line after the name, by user name, in the order of the file. */
export type StoredUsers = ReadonlyMap<string, string>;

export interface UserEntry {
  readonly hash: string;
  readonly role: Role;
  /** The time from which on the user no longer exists, in epoch milliseconds. */
  readonly expiresAt?: number | undefined;
}

export const isRole = (text: string): text is Role => ROLES.some((role) => role === text);

const EXPIRY = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Parses the part of a line after the name. Returns the fault, with its position in the text, if role or time is not valid. */
export function parseEntry(
  text: string,
):
  | { readonly ok: true; readonly entry: UserEntry }
  | { readonly ok: false; readonly at: number; readonly fault: string } {
  // The time has colons of its own.
  const [, hash = "", role = "reader", time] = /^([^:]*)(?::([^:]*)(?::([\s\S]*))?)?$/.exec(text) ?? [];
  if (!isRole(role))
    return { ok: false, at: hash.length + 1, fault: `the role must be one of ${ROLES.join(", ")}` };
  if (time === undefined) return { ok: true, entry: { hash, role } };
  const expiresAt = EXPIRY.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(expiresAt)) {
    const at = hash.length + role.length + 2;
    return { ok: false, at, fault: "the time of expiry must be written as 2027-01-31T00:00:00Z" };
  }
  return { ok: true, entry: { hash, role, expiresAt } };
}

function formatEntry({ hash, role, expiresAt }: UserEntry): string {
  if (expiresAt === undefined) return role === "reader" ? hash : `${hash}:${role}`;
  return `${hash}:${role}:${new Date(expiresAt).toISOString().replace(/\.\d+Z$/, "Z")}`;
}

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
    const text = line.slice(colon + 1);
    const [hash = ""] = text.split(":", 1);
    const parsed = parseEntry(text);
    const badName = colon < 0 ? "not NAME:HASH" : nameFault(name);
    const badHash = hash === CERTIFICATE_ONLY ? undefined : hashFault(hash);
    if (badName) addFault(0, `${badName}; make the line with gazetteer passwd`);
    else if (badHash) addFault(colon + 1, `${badHash}; make the line with gazetteer passwd`);
    else if (!parsed.ok) addFault(colon + 1 + parsed.at, parsed.fault);
    else if (users.has(name)) addFault(0, `user ${name} is listed twice; remove one of the lines`);
    else users.set(name, text);
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

/** Replaces the line of `name`, appends one, or removes it where there is no entry. Every other line stays as it is. */
function setUserLine(text: string, name: string, entry: UserEntry | undefined): string {
  const line = entry && `${name}:${formatEntry(entry)}`;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const index = lines.findIndex((existing) => existing.trim().normalize("NFC").startsWith(`${name}:`));
  const [at, removed] = index < 0 ? [lines.length, 0] : [index, 1];
  lines.splice(at, removed, ...(line === undefined ? [] : [line]));
  return lines.map((each) => `${each}\n`).join("");
}

/**
 * Replaces the entry of a user by what `change` makes of it: undefined is no entry, before and after. Writes nothing if
 * `change` throws. Creates the file if it does not exist.
 */
export async function changeUser(
  path: string,
  name: string,
  change: (before: UserEntry | undefined) => UserEntry | undefined,
): Promise<void> {
  const normalizedName = name.normalize("NFC");
  // A symbolic link stays, and the file that it points to is replaced.
  await withPinnedFile(path, async (file) => {
    const { text, owner } = await readText(file, path).catch(emptyWhenMissing);
    const stored = parseUsers(text, path).get(normalizedName);
    const before = stored === undefined ? undefined : parseEntry(stored);
    const changed = setUserLine(text, normalizedName, change(before?.ok ? before.entry : undefined));
    // The owner stays, because root may change a password for a service that runs as another user.
    await replaceFile(file, changed, owner);
  });
}

/** Adds or replaces a user. Without `role` a known user keeps its role, and a new one may read everything. */
export async function storeUser(
  path: string,
  name: string,
  hash: string,
  role?: Role,
): Promise<"added" | "replaced"> {
  let outcome: "added" | "replaced" = "added";
  await changeUser(path, name, (before) => {
    if (before) outcome = "replaced";
    if (before && schemeOf(before.hash) !== schemeOf(hash))
      throw new UsersError(`${name} is a token; revoke it first, or give the user another name`);
    return { ...before, hash, role: role ?? before?.role ?? "reader" };
  });
  return outcome;
}

function emptyWhenMissing(error: unknown): UsersText {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return { text: "" };
  throw error;
}
