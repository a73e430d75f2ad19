/**
 * The text that `serve` prints on standard output when it listens. The first start shows the generated password only on a
 * terminal. Other output is often a log that other people read, so it shows the path of a file that has the password. The
 * suggested command lets curl prompt for the password, because every user of the machine can read arguments. Later starts
 * list the users. The last two lines are the address of the map, for people, and `listening on URL`, for programs.
 */

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { errorMessage } from "../lib/error-message.ts";
import { IS_EXECUTABLE, programFile } from "../lib/program-files.ts";
import { replaceFile } from "../lib/replace-file.ts";
import type { ListeningFacts } from "../service/service.ts";
import { usageFailure } from "./command.ts";
import { escapeControlCharacters } from "./table.ts";

type BannerUsers = ListeningFacts["users"];
type GeneratedUser = NonNullable<BannerUsers["generated"]>;

const MAX_USERS_SHOWN = 10;

/** Writes the generated password to a file (mode 0600) beside the users file, or in a new temporary folder without one. */
export async function storePassword({ generated, file }: BannerUsers): Promise<string | undefined> {
  if (generated === undefined) return undefined;
  try {
    const folder = file === undefined ? await mkdtemp(join(tmpdir(), "gazetteer-")) : dirname(file);
    const path = join(folder, "first-password");
    await replaceFile(path, `${generated.password}\n`);
    return path;
  } catch (error) {
    const set = file === undefined ? "" : `; set another with gazetteer passwd ${file} ${generated.name}`;
    throw usageFailure(`the generated password cannot be written to a file: ${errorMessage(error)}${set}`);
  }
}

/** `passwordFile` is the path of the file with the generated password. If it is given, the password is not shown. */
export function renderStartupBanner(
  { url, host, users, sources }: ListeningFacts,
  passwordFile: string | undefined,
): string {
  const { generated, file } = users;
  const openUrl = reachableUrl(url, host);
  const lines = generated
    ? generatedUserLines(generated, { file, passwordFile }, openUrl)
    : configuredUsersLines(users);
  if (sources.length === 0) {
    lines.push("No source is configured, so the network is empty. To see one: serve --demo", "");
  }
  return `${lines.join("\n")}\nThe map: ${openUrl}/\nlistening on ${url}/controller/v1\n`;
}

function generatedUserLines(
  { name, password }: GeneratedUser,
  { file, passwordFile }: { readonly file: string | undefined; readonly passwordFile: string | undefined },
  url: string,
): string[] {
  const shown = passwordFile === undefined ? "Shown only now" : "Delete that file once you have the password";
  const storage =
    file === undefined
      ? [`${shown}: the next start generates another one.`]
      : [`${shown}; its hash is stored in ${file}`, `To change it:  ${programPath()} passwd ${file} ${name}`];
  return [
    "No users are configured, so one was generated:",
    "",
    `  user      ${name}`,
    `  password  ${passwordFile === undefined ? password : `in ${passwordFile}`}`,
    "",
    ...storage,
    "",
    "Try it (curl prompts for the password):",
    "",
    `  curl -u ${name} ${url}/controller/v1/devices`,
    "",
  ];
}

function configuredUsersLines(users: BannerUsers): string[] {
  const { file } = users;
  const names = users.all().map((user) => escapeControlCharacters(user.name));
  const more = names.length > MAX_USERS_SHOWN ? ` and ${names.length - MAX_USERS_SHOWN} more` : "";
  const change =
    file === undefined
      ? "New password: set another GAZETTEER_CREDENTIALS and start again"
      : `New password, or another user: ${programPath()} passwd ${file} NAME`;
  return [`Users: ${names.slice(0, MAX_USERS_SHOWN).join(", ")}${more}`, change, ""];
}

/**
 * The command that started this program, so that the printed commands can be pasted. The executable and the installed package
 * (bin/gazetteer.mjs) have it as their first argument; in a checkout that is the runtime, which bin/gazetteer has started.
 */
function programPath(): string {
  if (IS_EXECUTABLE || basename(process.argv0) !== "bun") return process.argv0;
  const path = programFile("bin/gazetteer").name ?? "gazetteer";
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
}

/** Replaces a wildcard address, to which clients cannot connect, by the loopback address. */
function reachableUrl(url: string, host: string): string {
  if (host === "0.0.0.0") return url.replace("0.0.0.0", "127.0.0.1");
  return host === "::" ? url.replace("[::]", "[::1]") : url;
}
