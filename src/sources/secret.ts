/**
 * Secrets among the options of a source: a password, a community, credentials. Each has three options, of which at most
 * one is given: the secret itself (`community`), the path of a file that holds it (`communityFile`), or the name of an
 * environment variable (`communityEnv`). The option with the text is marked `secret` in its schema, so that it is never
 * shown. Files are read at each use, because they may be replaced while the service runs. No message contains a secret.
 */

import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { basename } from "node:path";
import Type from "typebox";
import { isRecord } from "../lib/is-record.ts";
import type { SchemaFault } from "../lib/schema-faults.ts";
import { type KeyPath, schemaOption } from "../lib/schema-faults.ts";
import { pathText } from "../lib/schema-values.ts";

const MAX_SECRET_BYTES = 64 * 1024;

/** Pattern of variable names. It is strict, so that a secret written in place of a name is usually refused and not shown. */
export const VARIABLE_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$";

type OptionalText = Type.TOptional<Type.TString>;
type SecretProperties<N extends string> = { [K in N | `${N}File` | `${N}Env`]: OptionalText };

/** The three options of the secret `name`, for the properties of a kind's schema. */
export function secretOptions<N extends string>(name: N, description: string): SecretProperties<N> {
  const text = Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_SECRET_BYTES,
      title: "text that is not empty",
      description,
      secret: true,
    }),
  );
  const file = Type.Optional(
    pathText({
      title: "the path of a file",
      description: `A file that holds ${name}; it is read again at each use.`,
    }),
  );
  const variable = Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: VARIABLE_PATTERN,
      title: "the name of an environment variable, such as SWITCH_PASSWORD",
      description: `The name of an environment variable that holds ${name}.`,
      secretEnv: name,
    }),
  );
  const properties: Record<string, OptionalText> = {
    [name]: text,
    [`${name}File`]: file,
    [`${name}Env`]: variable,
  };
  // The keys are exactly those of the type, which TypeScript cannot derive from computed names.
  return properties as SecretProperties<N>;
}

/** The options of one secret, as they were given. */
export type SecretValues<N extends string> = {
  readonly [K in N | `${N}File` | `${N}Env`]?: string | undefined;
};

/** The result of reading a secret. The value is undefined when none of its three options is given. The message is one line. */
type SecretResult =
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly message: string };

/** Reads the secret `name` from the option that is given. The newline at the end of a file is removed. */
export async function readSecret<N extends string>(options: SecretValues<N>, name: N): Promise<SecretResult> {
  const values: Readonly<Record<string, string | undefined>> = options;
  const [text, file, variable] = [values[name], values[`${name}File`], values[`${name}Env`]];
  if (text !== undefined) return { ok: true, value: text };
  if (file !== undefined) return named(`${name}File`, await readSecretFile(file));
  if (variable !== undefined) return named(`${name}Env`, readSecretVariable(variable));
  return { ok: true, value: undefined };
}

const named = (option: string, result: SecretResult): SecretResult =>
  result.ok ? result : { ok: false, message: `${option}: ${result.message}` };

function readSecretVariable(name: string): SecretResult {
  const value = process.env[name];
  if (value === undefined) return fail(`the environment variable ${name} is not set`);
  return value === "" ? fail(`the environment variable ${name} is empty`) : { ok: true, value };
}

/** Reads a secret from a file. Messages have only the base name of the file, because users who see the status need no folders. */
export async function readSecretFile(path: string): Promise<SecretResult> {
  const name = basename(path);
  try {
    // Without O_NONBLOCK, opening a named pipe without a writer would never return.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return fail(`${name} is not a regular file`);
      return decodeSecret(name, await readBounded(handle));
    } finally {
      await handle.close();
    }
  } catch (error) {
    return fail(`${name} cannot be read (${errorCode(error)})`);
  }
}

/** Reads at most one byte more than allowed, because the size in the file's status may be wrong. */
async function readBounded(handle: FileHandle): Promise<Uint8Array> {
  const buffer = new Uint8Array(MAX_SECRET_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decodeSecret(name: string, bytes: Uint8Array): SecretResult {
  if (bytes.length > MAX_SECRET_BYTES) return fail(`${name} is larger than ${MAX_SECRET_BYTES} bytes`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return fail(`${name} is not UTF-8 text`);
  }
  const value = text.replace(/\r?\n$/, "");
  return value === "" ? fail(`${name} is empty`) : { ok: true, value };
}

const fail = (message: string): SecretResult => ({ ok: false, message });

/** The code of a system error, such as `ENOENT`. Its message is not used, because it contains the whole path. */
const errorCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "error";

export type CredentialsResult =
  | {
      readonly ok: true;
      readonly username: string;
      readonly password: string;
      /** The value of the header `Authorization`. */
      readonly authorization: string;
    }
  | { readonly ok: false; readonly message: string };

/** Parses `<USERNAME>:<PASSWORD>` as in Basic authentication (RFC 7617). The first colon ends the user name. */
export function parseCredentials(text: string): CredentialsResult {
  const colon = text.indexOf(":");
  if (colon <= 0) return { ok: false, message: "must be <USERNAME>:<PASSWORD>" };
  if ([...text].some((character) => character < " " || character === "\u007f")) {
    return { ok: false, message: "must be one line without control characters" };
  }
  return {
    ok: true,
    username: text.slice(0, colon),
    password: text.slice(colon + 1),
    authorization: `Basic ${Buffer.from(text, "utf8").toString("base64")}`,
  };
}

// The checks of secrets work for every kind of source, by the marks in its schema: they find faults of the options and, for
// `gazetteer check`, faults of the files. A kind needs no check of its own. A secret may be in a nested object.

/** One secret among the options that were given. */
interface GivenSecret {
  /** The path of the object that has the options. */
  readonly path: KeyPath;
  readonly name: string;
  /** The names of the options that are given, one to three. */
  readonly given: readonly string[];
  readonly text: string | undefined;
  readonly file: string | undefined;
  readonly variable: string | undefined;
}

function givenSecrets(schema: Type.TSchema, value: unknown, path: KeyPath = []): GivenSecret[] {
  if (Type.IsArray(schema) && Array.isArray(value)) {
    return value.flatMap((item, index) => givenSecrets(schema.items, item, [...path, index]));
  }
  if (Type.IsUnion(schema)) return schema.anyOf.flatMap((option) => givenSecrets(option, value, path));
  if (!Type.IsObject(schema) || !isRecord(value)) return [];
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    if (schemaOption(property, "secret") !== true)
      return givenSecrets(property, value[name], [...path, name]);
    const given = [name, `${name}File`, `${name}Env`].filter((option) => value[option] !== undefined);
    if (given.length === 0) return [];
    const textOf = (option: unknown) => (typeof option === "string" ? option : undefined);
    return [
      {
        path,
        name,
        given,
        text: textOf(value[name]),
        file: textOf(value[`${name}File`]),
        variable: textOf(value[`${name}Env`]),
      },
    ];
  });
}

/** Finds faults of options that match the schema. Variables are checked too, because they do not change in a running process. */
export function findSecretFaults(schema: Type.TSchema, options: unknown): SchemaFault[] {
  return givenSecrets(schema, options).flatMap(({ path, name, given, text, variable }) => {
    if (given.length > 1) {
      const message = `only one of ${given.join(" and ")} can be given`;
      return [{ path: [...path, given[1] ?? name], message, atKey: true as const }];
    }
    if (text !== undefined) return faultOf([...path, name], formFault(name, text));
    if (variable === undefined) return [];
    const read = readSecretVariable(variable);
    const message = read.ok ? formFault(name, read.value ?? "") : read.message;
    return faultOf([...path, `${name}Env`], message);
  });
}

const faultOf = (path: KeyPath, message: string | undefined): SchemaFault[] =>
  message === undefined ? [] : [{ path, message }];

/** The fault of a secret whose name requires a form: `credentials` has the same form in every kind of source. */
function formFault(name: string, value: string): string | undefined {
  const parsed = name === "credentials" ? parseCredentials(value) : undefined;
  return parsed?.ok === false ? parsed.message : undefined;
}

/** The findings of `gazetteer check` in the files. */
interface SecretFileReport {
  readonly faults: readonly SchemaFault[];
  /** Warnings about files that other users can read. They are not faults of the configuration. */
  readonly warnings: readonly string[];
}

/** Checks the files of secrets. Messages have only their base names, because a fault has the position of the option. */
export async function checkSecretFiles(
  schema: Type.TSchema | undefined,
  options: unknown,
): Promise<SecretFileReport> {
  const faults: SchemaFault[] = [];
  const warnings: string[] = [];
  for (const { path, name, file } of schema ? givenSecrets(schema, options) : []) {
    if (file === undefined) continue;
    const read = await readSecretFile(file);
    const option = [...path, `${name}File`];
    if (!read.ok) {
      faults.push({ path: option, message: read.message });
      continue;
    }
    const fault = formFault(name, read.value ?? "");
    if (fault !== undefined) faults.push({ path: option, message: `${basename(file)} ${fault}` });
    if (await isReadableByOthers(file)) {
      warnings.push(`${name}File: ${basename(file)} can be read by other users of this machine (chmod 600)`);
    }
  }
  return { faults, warnings };
}

export const isReadableByOthers = async (path: string): Promise<boolean> => {
  const status = await stat(path).catch(() => undefined);
  return status !== undefined && (status.mode & 0o004) !== 0;
};
