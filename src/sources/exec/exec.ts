/**
 * The `exec` source: runs a program at intervals. Its output is a network document in the format of the `file` source.
 *
 * If the program fails, takes too long or prints too much, or if the document has a fault, the last valid document stays
 * claimed, and the fault is reported.
 */
import Type from "typebox";
import { pathText } from "../../lib/schema-values.ts";
import { parseNetwork } from "../file/network-file.ts";
import { createPollLoop } from "../poll-loop.ts";
import { readSecret, secretOptions, VARIABLE_PATTERN } from "../secret.ts";
import { checkOf, type Source, type SourceContext } from "../source.ts";
import { intervalSeconds } from "../source-options.ts";
import { findProgramFault, programOf, runCommand } from "./run-command.ts";

export function createExecSource(
  { name, command, ...options }: ExecOptions & { name: string },
  { clock }: SourceContext,
): Source {
  const intervalMs = options.intervalSeconds * 1000;
  const timeoutMs = options.timeoutSeconds * 1000;
  const { directory, maxOutputBytes } = options;
  const counts = { runs_total: 0, failed_total: 0, refused_total: 0 };
  return {
    name,
    metrics: () => ({ ...counts }),
    async check() {
      const environment = await readEnvironment(options);
      return checkOf(
        environment.ok
          ? findProgramFault({ command, directory, environment: environment.variables })
          : environment.message,
      );
    },
    run: (sink, signal) =>
      createPollLoop({ sink, intervalMs, clock, signal }).run(async () => {
        counts.runs_total++;
        const environment = await readEnvironment(options);
        const result = environment.ok
          ? await runCommand({
              command,
              directory,
              environment: environment.variables,
              timeoutMs,
              maxOutputBytes,
              clock,
              signal,
            })
          : environment;
        if (!result.ok) {
          if (!signal.aborted) counts.failed_total++;
          return result;
        }
        const content = parseNetwork(`output of ${programOf({ command })}`, result.output);
        if (!content.ok) {
          counts.refused_total++;
          sink.markStale(content.message);
          return { ok: true };
        }
        await sink.replace(content.claims);
        return { ok: true };
      }),
  };
}

const argument = Type.String({
  maxLength: 32_768,
  // NUL is excluded, because the system ends an argument at it.
  pattern: "^[^\\u0000]*$",
  title: "text without a NUL character",
});

const { environmentFile, environmentEnv } = secretOptions("environment", "");

export const ExecOptions = Type.Object(
  {
    command: Type.Refine(
      Type.Array(argument, {
        minItems: 1,
        maxItems: 1024,
        title: "a list of a program and its arguments",
        description: "The program to run and its arguments. There is no shell.",
      }),
      (command) => Array.isArray(command) && command[0] !== "",
    ),
    directory: pathText({
      title: "the path of a folder",
      default: ".",
      description: "The working folder of the program. A program with a / in its name is relative to it.",
    }),
    intervalSeconds: intervalSeconds(30),
    timeoutSeconds: Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 30,
      description: "How long the program may run.",
    }),
    maxOutputBytes: Type.Integer({
      minimum: 1024,
      maximum: 1024 * 1024 * 1024,
      default: 256 * 1024 * 1024,
      description: "The longest output that is read.",
    }),
    environment: Type.Optional(
      Type.Record(Type.String({ pattern: VARIABLE_PATTERN }), argument, {
        title: "names and values of environment variables",
        description: "Variables for the program besides PATH, HOME and LANG. Values are not shown.",
        additionalProperties: false,
        secret: true,
      }),
    ),
    environmentFile,
    environmentEnv,
  },
  { additionalProperties: false },
);
export type ExecOptions = Type.Static<typeof ExecOptions>;

// The variables of the program are in the configuration, or are lines of `NAME=VALUE` in a file or in an environment variable
// of the service. Empty lines and lines that begin with # are skipped. A value is the unchanged text after the `=`.

type EnvironmentResult =
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

/** Parses the lines. A fault contains the number of its line and none of its text, which may be secret. */
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
