/**
 * What `serve` prints on standard output once it listens. The first start shows the generated password, which is not
 * stored anywhere, with a command to try it; later starts show who may read. The last two lines are the address of the map,
 * for people, and `listening on URL`, for programs.
 */
import { join, relative } from "node:path";
import type { ListeningFacts } from "../service/service.ts";
import { escapeControlCharacters } from "./table.ts";

type BannerUsers = ListeningFacts["users"];
type GeneratedUser = NonNullable<BannerUsers["generated"]>;

const MAX_USERS_SHOWN = 10;

export function renderStartupBanner({ url, host, users, sources }: ListeningFacts): string {
  const { generated, file } = users;
  const openUrl = reachableUrl(url, host);
  const lines = generated ? generatedUserLines(generated, file, openUrl) : configuredUsersLines(users);
  if (sources.length === 0) {
    lines.push("No source is configured, so the network is empty. To see one: serve --demo", "");
  }
  return `${lines.join("\n")}\nThe map: ${openUrl}/\nlistening on ${url}/controller/v1\n`;
}

function generatedUserLines(
  { name, password }: GeneratedUser,
  file: string | undefined,
  url: string,
): string[] {
  const storage =
    file === undefined
      ? ["It is not stored: the next start generates another one."]
      : [
          `Shown only now; its hash is stored in ${file}`,
          `To change it:  ${programPath()} passwd ${file} ${name}`,
        ];
  return [
    "No users are configured, so one was generated:",
    "",
    `  user      ${name}`,
    `  password  ${password}`,
    "",
    ...storage,
    "",
    "Try it:",
    "",
    `  curl -u ${name}:${password} ${url}/controller/v1/devices`,
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

/** How this program is called from the working directory, so that the printed commands can be pasted. */
function programPath(): string {
  const path = join(import.meta.dir, "..", "..", "bin", "gazetteer");
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
}

/** The wildcard address is not one to connect to; the loopback address is. */
function reachableUrl(url: string, host: string): string {
  if (host === "0.0.0.0") return url.replace("0.0.0.0", "127.0.0.1");
  return host === "::" ? url.replace("[::]", "[::1]") : url;
}
