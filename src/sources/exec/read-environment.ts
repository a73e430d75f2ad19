/**
 * The variables of the program: those of the configuration, or lines of `NAME=VALUE` in a file or an environment variable
 * of the service. Empty lines and lines that begin with # are skipped. A value is the text after the sign as it is.
 */
import { readSecret, VARIABLE_PATTERN } from "../secret.ts";
import type { ExecOptions } from "./options.ts";

export type EnvironmentResult =
  | { readonly ok: true; readonly variables: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly message: string };

const LINE = new RegExp(`${VARIABLE_PATTERN.replace(/\$$/, "")}=`);

export async function readEnvironment(
  options: Pick<ExecOptions, "environment" | "environmentFile" | "environmentEnv">,
): Promise<EnvironmentResult> {
  const { environment, environmentFile, environmentEnv } = options;
  if (environment) return { ok: true, variables: environment };
  const lines = await readSecret({ environmentFile, environmentEnv }, "environment");
  if (!lines.ok) return lines;
  return parseLines(lines.value ?? "", environmentFile === undefined ? "environmentEnv" : "environmentFile");
}

/** A fault has the number of its line and none of its text, which may be secret. */
function parseLines(text: string, option: string): EnvironmentResult {
  const variables: Record<string, string> = {};
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    if (!LINE.test(line) || line.includes("\0"))
      return { ok: false, message: `${option}: line ${index + 1} is not NAME=VALUE` };
    const equals = line.indexOf("=");
    variables[line.slice(0, equals)] = line.slice(equals + 1);
  }
  return { ok: true, variables };
}
