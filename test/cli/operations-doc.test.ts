/**
 * The table of configuration keys in docs/operations.md is generated from the schema. After a change of the schema,
 * `UPDATE=1 npm test -- operations-doc` writes it again.
 */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Configuration } from "../../src/config/schema.ts";
import { describeSchema } from "../../src/lib/schema-faults.ts";

const PAGE = join(import.meta.dir, "..", "..", "docs", "operations.md");
const [BEGIN, END] = ["<!-- configuration:begin", "<!-- configuration:end -->"];

const renderDefault = (value: unknown) => (value === undefined ? "" : `\`${JSON.stringify(value)}\``);

function renderRows(schema: Type.TObject, prefix: string): string[] {
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    const name = prefix + key;
    if (Type.IsObject(property)) return renderRows(property, `${name}.`);
    const { description, default: value }: { description?: unknown; default?: unknown } = { ...property };
    return [`| \`${name}\` | ${describeSchema(property)} | ${renderDefault(value)} | ${description} |`];
  });
}

test("docs/operations.md has every key of the configuration", () => {
  const table = [
    "| key | value | default | meaning |",
    "|---|---|---|---|",
    ...renderRows(Configuration, ""),
  ].join("\n");
  const page = readFileSync(PAGE, "utf8");
  const from = page.indexOf("\n", page.indexOf(BEGIN)) + 1;
  const to = page.indexOf(END);
  expect(to).toBeGreaterThanOrEqual(from);
  if (process.env.UPDATE === "1") writeFileSync(PAGE, `${page.slice(0, from)}${table}\n${page.slice(to)}`);
  expect(readFileSync(PAGE, "utf8")).toContain(`\n${table}\n${END}`);
});
