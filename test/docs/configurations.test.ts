/**
 * Every configuration and network file that a page prints passes `gazetteer check`: the blocks of YAML, and the files
 * that commands write (`… NAME.yaml <<'END'`). Files that a configuration names are there, with contents of their kind.
 */
import { beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { Configuration } from "../../src/config/schema.ts";
import { nearest } from "../../src/lib/nearest.ts";
import { createCertificates } from "../support/certificates.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";

const ROOT = join(import.meta.dir, "..", "..");
/** The page configures a source that its reader writes. A test of its own runs it (test/peers/docs). */
const OWN_SOURCE = "docs/adding-a-source.md";
const PAGES = ["*.md", "docs/**/*.md"]
  .flatMap((glob) => [...new Bun.Glob(glob).scanSync(ROOT)])
  .filter((path) => path !== OWN_SOURCE)
  .sort();
const KEYS = Object.keys(Configuration.properties);

interface Block {
  readonly where: string;
  readonly text: string;
  readonly keys: readonly string[];
}

const BLOCKS = PAGES.flatMap((path): Block[] => {
  const page = readFileSync(join(ROOT, path), "utf8");
  const patterns = [/^```yaml\n(.*?)^```$/gms, /^[^\n]*\.yaml <<'END'[^\n]*\n(.*?)^END$/gms];
  return patterns
    .flatMap((pattern) => [...page.matchAll(pattern)])
    .map(({ index, 1: text = "" }) => ({
      where: `${path}:${page.slice(0, index).split("\n").length}`,
      text,
      keys: Object.keys(parse(text) ?? {}),
    }));
});
const isNetwork = ({ keys }: Block): boolean => keys.includes("devices");
/** A block of another program has no key that is, or is nearly, a key of the configuration. */
const isConfiguration = (block: Block): boolean =>
  !isNetwork(block) && block.keys.some((key) => KEYS.includes(key) || nearest(key, KEYS) !== undefined);

const folder = temporaryFolder();
beforeAll(() => createCertificates(folder, ["server"]));

const CREDENTIALS = "name:password";
const CONTENTS: readonly (readonly [name: RegExp, content: () => string])[] = [
  [/\.ya?ml$/, () => "devices: []"],
  [/ca\.pem$/, () => readFileSync(join(folder, "ca.pem"), "utf8")],
  [/\.pem$/, () => readFileSync(join(folder, "server.pem"), "utf8")],
  [/\.env$/, () => "TOKEN=secret"],
  [/secret$/, () => Buffer.alloc(32, "s").toString("base64")],
  [/credentials$/, () => CREDENTIALS],
  [/./, () => "long-enough-secret"],
];
const KEY_FILE = /key(\.pem)?$/;

/** Writes the files that a value names by a key such as `path`, `cert` or `credentialsFile`, below the folder. */
function writeNamedFiles(value: unknown): void {
  for (const [key, named] of Object.entries(value ?? {})) {
    const name = key === "command" && Array.isArray(named) ? named[0] : named;
    if (typeof name !== "string") writeNamedFiles(named);
    else if (/^(path|cert|key|ca|clientCa|command)$|File$/.test(key)) {
      const path = name.startsWith(folder) ? name : join(folder, name);
      if (existsSync(path)) continue;
      const [, content] = CONTENTS.find(([pattern]) => pattern.test(path)) ?? [];
      const text = KEY_FILE.test(path) ? readFileSync(join(folder, "server.key"), "utf8") : content?.();
      writeFileSync(path, `${text}\n`, { mode: key === "command" ? 0o700 : 0o600 });
    }
  }
}

async function check(name: string, text: string): Promise<void> {
  const path = join(folder, name);
  const here = text.replaceAll(/\/etc\/(gazetteer|nats)(?=\/)|\/var\/lib\/gazetteer/g, folder);
  writeNamedFiles(parse(here));
  writeFileSync(path, here);
  for (const [, variable = ""] of here.matchAll(/\w+Env: (\w+)/g)) process.env[variable] = CREDENTIALS;
  const { status, stderr } = await runCommand(["check", path]);
  expect([stderr, status]).toEqual(["", 0]);
}

test("there are configurations and network files", () => {
  expect(BLOCKS.filter(isConfiguration).length).toBeGreaterThan(20);
  expect(BLOCKS.filter(isNetwork).length).toBeGreaterThan(3);
});

test.each(BLOCKS.filter(isConfiguration).map(({ where, text }) => [where, text] as const))(
  "%s is a configuration without faults",
  (_, text) => check("gazetteer.yaml", text),
);

test.each(BLOCKS.filter(isNetwork).map(({ where, text }) => [where, text] as const))(
  "%s is a network without faults",
  async (_, text) => {
    writeFileSync(join(folder, "printed.yaml"), text);
    await check("gazetteer.yaml", "sources: [{type: file, path: printed.yaml}]\n");
  },
);
