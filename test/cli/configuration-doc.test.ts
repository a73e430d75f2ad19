/**
 * The reference of keys in docs/configuration.md is generated from the schemas. After a change of a schema,
 * `UPDATE=1 npm test -- configuration-doc` writes it again.
 */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Configuration } from "../../src/config/schema.ts";
import { describeSchema } from "../../src/lib/schema-faults.ts";
import { CommonOptions } from "../../src/sources/source-options.ts";

const PAGE = join(import.meta.dir, "..", "..", "docs", "configuration.md");

const renderDefault = (value: unknown) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

function renderRows(schema: Type.TObject, prefix: string): string[] {
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    const name = prefix + key;
    if (Type.IsObject(property)) return renderRows(property, `${name}.`);
    const { description, default: value }: { description?: unknown; default?: unknown } = { ...property };
    return [`| \`${name}\` | ${describeSchema(property)} | ${renderDefault(value)} | ${description} |`];
  });
}

const renderTable = (schema: Type.TObject, prefix = "") =>
  ["| key | value | default | meaning |", "|---|---|---|---|", ...renderRows(schema, prefix)].join("\n");

/** The keys that are in no section, then a heading and a table for each section. */
function renderReference({ properties }: Type.TObject): string {
  const isSection = ([, property]: [string, Type.TSchema]) => Type.IsObject(property);
  const entries = Object.entries(properties);
  const keys = Type.Object(Object.fromEntries(entries.filter((entry) => !isSection(entry))));
  const sections = entries.filter(isSection).flatMap(([key, section]) => {
    const { description }: { description?: unknown } = { ...section };
    return Type.IsObject(section) ? [`### ${key}\n${description}\n\n${renderTable(section, `${key}.`)}`] : [];
  });
  return [renderTable(keys), ...sections].join("\n\n");
}

test.each([
  ["key of the configuration", "configuration", renderReference(Configuration)],
  ["option that every source has", "source-options", renderTable(CommonOptions)],
])("docs/configuration.md has every %s", (_, name, reference) => {
  const [begin, end] = [`<!-- ${name}:begin`, `<!-- ${name}:end -->`];
  const page = readFileSync(PAGE, "utf8");
  const from = page.indexOf("\n", page.indexOf(begin)) + 1;
  const to = page.indexOf(end);
  expect(to).toBeGreaterThanOrEqual(from);
  if (process.env.UPDATE === "1")
    writeFileSync(PAGE, `${page.slice(0, from)}${reference}\n${page.slice(to)}`);
  expect(readFileSync(PAGE, "utf8")).toContain(`\n${reference}\n${end}`);
});
