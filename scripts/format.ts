/** `npm run format`: formats everything and applies the safe fixes of the linter. */
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const biome = join(root, "node_modules/.bin/biome");
const paths = process.argv.slice(2);
const run = Bun.spawnSync([biome, "check", "--write", ...paths], {
  cwd: root,
  stdio: ["inherit", "inherit", "inherit"],
});
process.exitCode = run.exitCode;
