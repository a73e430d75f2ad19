/** The options of the `exec` source. */
import Type from "typebox";
import { pathText } from "../../lib/schema-values.ts";
import { intervalSeconds } from "../poll-options.ts";
import { secretOptions, VARIABLE_PATTERN } from "../secret.ts";

export const DEFAULT_INTERVAL_SECONDS = 30;
export const DEFAULT_TIMEOUT_SECONDS = 30;
export const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

const argument = Type.String({
  maxLength: 32_768,
  // The system ends an argument at this character.
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
    directory: Type.Optional(
      pathText({
        title: "the path of a folder",
        default: ".",
        description: "The working folder of the program. A program with a / in its name is relative to it.",
      }),
    ),
    intervalSeconds: intervalSeconds(DEFAULT_INTERVAL_SECONDS),
    timeoutSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        default: DEFAULT_TIMEOUT_SECONDS,
        description: "How long the program may run.",
      }),
    ),
    maxOutputBytes: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1024 * 1024 * 1024,
        default: DEFAULT_MAX_OUTPUT_BYTES,
        description: "The longest output that is read.",
      }),
    ),
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
