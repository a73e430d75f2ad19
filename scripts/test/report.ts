/** Reads the JUnit report of `bun test`: the names of the tests that passed, failed and were skipped, and how long each took. */

export interface TimedTest {
  /** As in the list of failures. */
  readonly name: string;
  readonly elapsedMs: number;
}

export interface Report {
  readonly passed: number;
  /** As `test/cli/get.test.ts: get > -o json`. */
  readonly failures: readonly string[];
  readonly skipped: readonly string[];
  readonly tests: readonly TimedTest[];
  /** The files that were loaded. A file that throws before its first test is not among them. */
  readonly files: ReadonlySet<string>;
}

const TEST_CASE = /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g;

export function parseReport(xml: string): Report {
  const failures: string[] = [];
  const skipped: string[] = [];
  const tests: TimedTest[] = [];
  const files = new Set<string>();
  let passed = 0;
  for (const [, attributes = "", content = ""] of xml.matchAll(TEST_CASE)) {
    const read = (name: string) => attribute(` ${attributes}`, name);
    files.add(read("file"));
    // Bun writes the innermost block first.
    const blocks = read("classname").split(" > ").reverse();
    const title = [...blocks, read("name")].filter((part) => part !== "").join(" > ");
    const name = `${read("file")}: ${title}`;
    tests.push({ name, elapsedMs: Number(read("time")) * 1000 });
    if (/<(?:failure|error)\b/.test(content)) failures.push(name);
    else if (/<skipped\b/.test(content)) skipped.push(name);
    else passed++;
  }
  return { passed, failures, skipped, tests, files };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

/** The text of an attribute of an XML element; empty when it has none. */
function attribute(element: string, name: string): string {
  const text = new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1] ?? "";
  return text.replace(/&(\w+);/g, (entity, key: string) => ENTITIES[key] ?? entity);
}
