/** The package as npm packs it: what the service reads at run time (the documentation) is part of it. */
import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { basic } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");
const CREDENTIALS = "reader:secret";

/** Packs and unpacks the package, with the dependencies of this repository. Returns its folder. */
function unpackPackage(): string {
  const folder = temporaryFolder();
  const run = (command: string[], cwd: string) => {
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd, stdout: "ignore" });
    if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
  };
  run(["npm", "pack", "--ignore-scripts", "--pack-destination", folder], ROOT);
  const [tarball = ""] = [...new Bun.Glob("*.tgz").scanSync(folder)];
  run(["tar", "-xzf", tarball], folder);
  const unpacked = join(folder, "package");
  symlinkSync(join(ROOT, "node_modules"), join(unpacked, "node_modules"));
  return unpacked;
}

test("an installed package serves its documentation", async () => {
  const cwd = unpackPackage();
  // Not bin/gazetteer: it may install dependencies, and node_modules is the one of this repository.
  await using child = Bun.spawn(
    [process.execPath, "--no-install", "src/main.ts", "serve", "--port", "0", "--data", ":memory:"],
    {
      cwd,
      env: { ...process.env, GAZETTEER_CREDENTIALS: CREDENTIALS },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) output += Buffer.from(chunk).toString();
  })();
  const url = await until(() => /^listening on (http:\/\/[^/]+)/m.exec(output)?.[1], {
    what: "the listening line",
    deadlineMs: 60_000,
  });
  const get = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: basic(CREDENTIALS) } });
    return { status: response.status, text: await response.text() };
  };
  expect((await get("/docs/errors")).text).toContain('<h2 id="bad-parameter">');
  for (const path of ["/docs", "/docs/interface", "/docs/style.css"])
    expect([path, (await get(path)).status]).toEqual([path, 200]);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await reading;
});
