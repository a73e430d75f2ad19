/**
 * The results of the last whole run of each suite, in bench/results.json, each with the commit and the machine that it was
 * measured on, and as tables in Markdown for docs/performance.md.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { cellsOf, type Result } from "../api/result.ts";

const ROOT = join(import.meta.dir, "../..");
const FILE = "bench/results.json";

const git = (...args: string[]): string =>
  Bun.spawnSync(["git", ...args], { cwd: ROOT })
    .stdout.toString()
    .trim();

const MACHINE = {
  processor: cpus()[0]?.model ?? process.arch,
  cores: navigator.hardwareConcurrency,
  runtime: `bun ${Bun.version}`,
};

/** The last commit of the code that is measured, and whether it has been changed since. */
const measuredCommit = (): string =>
  git("log", "-1", "--format=%h", "--", "src") + (git("status", "--porcelain", "src") && " with changes");

/** The commit and the machine in one line. */
export const measuredOn = (): string =>
  `Commit ${measuredCommit()}, ${MACHINE.processor}, ${MACHINE.cores} cores, ${MACHINE.runtime}`;

interface KeptSuite {
  readonly commit: string;
  readonly machine: typeof MACHINE;
  readonly results: readonly Result[];
}
type KeptResults = Readonly<Record<string, KeptSuite>>;

/** The kept results, or those that were kept at a commit. */
function readResults(commit?: string): KeptResults {
  const file = join(ROOT, FILE);
  const text = commit ? git("show", `${commit}:${FILE}`) : existsSync(file) && readFileSync(file, "utf8");
  return text ? JSON.parse(text) : {};
}

/** Suites that are not given keep their previous results. */
export function keepResults(suites: Readonly<Record<string, readonly Result[]>>): void {
  const kept: Record<string, KeptSuite> = { ...readResults() };
  for (const [name, results] of Object.entries(suites))
    kept[name] = { commit: measuredCommit(), machine: MACHINE, results };
  writeFileSync(join(ROOT, FILE), `${JSON.stringify(kept, null, 2)}\n`);
}

/** All kept results, each beside that of an earlier commit if one is given. */
export function markdownTables(before?: string): string {
  const earlier = before ? readResults(before) : {};
  return Object.entries(readResults())
    .map(([name, suite]) => (name === "growth" ? growthTable(suite) : suiteTable(name, suite, earlier[name])))
    .join("\n");
}

function suiteTable(name: string, { commit, results }: KeptSuite, before: KeptSuite | undefined): string {
  const title = `**${name}**, ${before ? `before ${before.commit}, now ` : ""}${commit}`;
  const heads = [
    "case",
    ...(before ? ["before"] : []),
    before ? "now" : "cost",
    "peer",
    "ratio",
    "target",
    "",
  ];
  const rows = results.map((result) => {
    const same = before?.results.find((each) => each.name === result.name && each.what === result.what);
    return [result.what, ...(before ? [same ? cellsOf(same)[0] : ""] : []), ...cellsOf(result)];
  });
  return markdownTable(title, heads, rows);
}

/** One row for each operation, one column for each size. */
function growthTable({ commit, results }: KeptSuite): string {
  const sizes = [...new Set(results.map(({ what }) => what))];
  const operations = [...new Set(results.map(({ name }) => name))];
  const rows = operations.map((operation) => [
    operation.replace("growth/", ""),
    ...results.filter(({ name }) => name === operation).map((result) => cellsOf(result)[0]),
  ]);
  return markdownTable(`**growth**, ${commit}`, ["", ...sizes], rows);
}

function markdownTable(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return `${title}\n\n${line(heads)}|${"---|".repeat(heads.length)}\n${rows.map(line).join("")}`;
}
