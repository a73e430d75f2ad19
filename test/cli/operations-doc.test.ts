/**
 * The tables of configuration keys in docs/operations.md are generated from the schemas. After a change of the schema,
 * `UPDATE=1 npm test -- operations-doc` writes it again.
 */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Configuration } from "../../src/config/schema.ts";
import { describeSchema } from "../../src/lib/schema-faults.ts";
import { CommonOptions } from "../../src/sources/source-options.ts";

const PAGE = join(import.meta.dir, "..", "..", "docs", "operations.md");

const renderDefault = (value: unknown) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

function renderRows(schema: Type.TObject, prefix: string): string[] {
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    const name = prefix + key;
    if (Type.IsObject(property)) return renderRows(property, `${name}.`);
    const { description, default: value }: { description?: unknown; default?: unknown } = { ...property };
    return [`| \`${name}\` | ${describeSchema(property)} | ${renderDefault(value)} | ${description} |`];
  });
}

for (const [name, what, schema] of [
  ["configuration", "key of the configuration", Configuration],
  ["source-options", "option that every source has", CommonOptions],
] as const) {
  test(`docs/operations.md has every ${what}`, () => {
    const [begin, end] = [`<!-- ${name}:begin`, `<!-- ${name}:end -->`];
    const table = [
      "| key | value | default | meaning |",
      "|---|---|---|---|",
      ...renderRows(schema, ""),
    ].join("\n");
    const page = readFileSync(PAGE, "utf8");
    const from = page.indexOf("\n", page.indexOf(begin)) + 1;
    const to = page.indexOf(end);
    expect(to).toBeGreaterThanOrEqual(from);
    if (process.env.UPDATE === "1") writeFileSync(PAGE, `${page.slice(0, from)}${table}\n${page.slice(to)}`);
    expect(readFileSync(PAGE, "utf8")).toContain(`\n${table}\n${end}`);
  });
}
