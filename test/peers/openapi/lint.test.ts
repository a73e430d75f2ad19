/** openapi.json in the eyes of Redocly and Spectral: no error and no warning but those listed here with a reason. */
import { expect, test } from "bun:test";
import { installTools, OPENAPI_JSON, runTool } from "./tools.ts";

/** Findings that stay, each with its reason. One that no longer occurs must be removed here. */
const EXCEPTIONS: Readonly<Record<"redocly" | "spectral", Readonly<Record<string, string>>>> = {
  redocly: {},
  spectral: { "info-contact": "the project has no address that is the same for every installation" },
};

const here = installTools();

/** `recommended-strict` makes every warning of the recommended rules an error. */
test.skipIf(!here)("Redocly", async () => {
  const { stdout, stderr } = await runTool("redocly", [
    "lint",
    "--extends=recommended-strict",
    "--format=json",
    OPENAPI_JSON,
  ]);
  const report: { problems: { ruleId: string }[] } = parse(stdout, stderr);
  check("redocly", report.problems, ({ ruleId }) => ruleId);
});

test.skipIf(!here)("Spectral", async () => {
  const { stdout, stderr } = await runTool("spectral", [
    "lint",
    "--ruleset=spectral.json",
    "--format=json",
    "--quiet",
    OPENAPI_JSON,
  ]);
  const findings: { code: string }[] = parse(stdout, stderr);
  check("spectral", findings, ({ code }) => code);
});

function parse<T>(stdout: string, stderr: string): T {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no report:\n${stdout}\n${stderr}`);
  }
}

function check<T>(
  tool: keyof typeof EXCEPTIONS,
  findings: readonly T[],
  ruleOf: (finding: T) => string,
): void {
  const allowed = Object.keys(EXCEPTIONS[tool]);
  expect(findings.filter((finding) => !allowed.includes(ruleOf(finding)))).toEqual([]);
  expect([...new Set(findings.map(ruleOf))].sort()).toEqual(allowed.sort());
}
