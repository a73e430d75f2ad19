/**
 * The checks of secrets for every kind of source, by the marks in its schema (secret.ts): faults of the options, and, for
 * `gazetteer check`, what is wrong with the files. A kind needs no check of its own. A secret may stand in a nested object.
 */

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import Type from "typebox";
import { isRecord } from "../lib/is-record.ts";
import { type KeyPath, schemaOption } from "../lib/schema-faults.ts";
import type { OptionFault } from "./option-fault.ts";
import { parseCredentials, readSecretFile, readSecretVariable } from "./secret.ts";

/** One secret among the options that were given. */
interface GivenSecret {
  /** Of the object that has the options. */
  readonly path: KeyPath;
  readonly name: string;
  /** The options that are given, one to three. */
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

/** Of options that match the schema. The environment does not change while the process runs, so it is checked at once. */
export function findSecretFaults(schema: Type.TSchema, options: unknown): OptionFault[] {
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

const faultOf = (path: KeyPath, message: string | undefined): OptionFault[] =>
  message === undefined ? [] : [{ path, message }];

/** Secrets of this name have a form in every kind of source. */
function formFault(name: string, value: string): string | undefined {
  const parsed = name === "credentials" ? parseCredentials(value) : undefined;
  return parsed?.ok === false ? parsed.message : undefined;
}

/** What `gazetteer check` finds in the files. */
export interface SecretFileReport {
  readonly faults: readonly OptionFault[];
  /** Nothing is wrong with the configuration, but others can read the secret. */
  readonly warnings: readonly string[];
}

/** The base name in messages suffices: the fault has the position of the option. */
export async function checkSecretFiles(
  schema: Type.TSchema | undefined,
  options: unknown,
): Promise<SecretFileReport> {
  const faults: OptionFault[] = [];
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
