/** All runs of the properties, of which `npm test` makes a quarter. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { PROPERTY_TIMEOUT_MS } from "../../support/property.ts";

const root = join(import.meta.dir, "../../..");

async function filesWithProperties(): Promise<string[]> {
  const paths = [...new Bun.Glob("{src,test}/**/*.test.ts").scanSync(root)].sort();
  const texts = await Promise.all(paths.map((path) => Bun.file(join(root, path)).text()));
  const isProperty = (text: string) => text.includes("fc.assert(") || text.includes("assertProperty(");
  return paths.filter((path, i) => !path.startsWith("test/peers/") && isProperty(texts[i] ?? ""));
}

test(
  "each property holds in as many runs as it states",
  async () => {
    const files = await filesWithProperties();
    expect(files.length).toBeGreaterThan(30);
    const child = Bun.spawn(
      [process.execPath, "test", "--timeout=600000", ...files.map((path) => `./${path}`)],
      {
        cwd: root,
        env: { ...process.env, GAZETTEER_TEST_RUNS: process.env.GAZETTEER_TEST_RUNS ?? "1" },
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    const output = await new Response(child.stderr).text();
    const failures = output.split("\n").filter((line) => !line.startsWith("(pass)") && line !== "");
    expect({ status: await child.exited, failures: failures.slice(-60) }).toMatchObject({ status: 0 });
  },
  PROPERTY_TIMEOUT_MS,
);
