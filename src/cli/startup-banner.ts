/**
 * What `serve` says to the person who started it: once, on standard output, before the line that says it listens.
 * The first start shows the password nobody will see again, with a line to try it; later ones say who may read.
 */
import { isIPv6 } from "node:net";
import { join, relative } from "node:path";
import type { Users } from "../api/auth/users.ts";
import { harmless } from "./table.ts";

export interface GreetingFacts {
  readonly url: string;
  /** What was configured to listen on. */
  readonly host: string;
  readonly users: Users;
  readonly sources: readonly string[];
}

const MAX_USERS_SHOWN = 10;

/** `http://HOST:PORT`. */
export function urlOf(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** How this program is called from here, so that what is printed can be pasted. */
function program(): string {
  const path = join(import.meta.dir, "..", "..", "bin", "gazetteer");
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

/** An address to type on this machine: the one for "all addresses" is none. */
function reachable(url: string, host: string): string {
  if (host === "0.0.0.0") return url.replace("0.0.0.0", "127.0.0.1");
  return host === "::" ? url.replace("[::]", "[::1]") : url;
}

export function greeting({ url, host, users, sources }: GreetingFacts): string {
  const lines = users.generated ? firstStart(users, reachable(url, host)) : laterStart(users);
  if (sources.length === 0) {
    lines.push("No source is configured, so the network is empty. To see one: serve --demo", "");
  }
  return `${lines.join("\n")}\nlistening on ${url}/controller/v1\n`;
}

function firstStart(users: Users, url: string): string[] {
  const { name = "", password = "" } = users.generated ?? {};
  const kept =
    users.file === undefined
      ? "It is kept nowhere: the next start makes another."
      : `Shown this once; only its hash is kept, in ${users.file}`;
  const another = users.file === undefined ? [] : [`Another one:  ${program()} passwd ${users.file} ${name}`];
  return [
    "No users were configured, so one was made:",
    "",
    `  user      ${name}`,
    `  password  ${password}`,
    "",
    kept,
    ...another,
    "",
    "Try it:",
    "",
    `  curl -u ${name}:${password} ${url}/controller/v1/devices`,
    "",
  ];
}

function laterStart(users: Users): string[] {
  const names = users.all().map((user) => harmless(user.name));
  const more = names.length > MAX_USERS_SHOWN ? ` and ${names.length - MAX_USERS_SHOWN} more` : "";
  const lines = [`Users: ${names.slice(0, MAX_USERS_SHOWN).join(", ")}${more}`];
  const change =
    users.file === undefined
      ? "New password: set another GAZETTEER_CREDENTIALS and start again"
      : `New password, or another user: ${program()} passwd ${users.file} NAME`;
  return [...lines, change, ""];
}
