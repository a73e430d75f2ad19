/** The programs in Python that docs/integrations.md prints, and an environment in which they run. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasVenv, venvProgram } from "../../support/python-venv.ts";
import type { Service } from "../../support/service.ts";

const VENV = "recipes-1";
const PACKAGES = ["requests==2.34.2", "pandas==3.1.1", "networkx==3.6.1", "pynetbox==7.8.0"];
const PAGE = readFileSync(join(import.meta.dir, "../../../docs/integrations.md"), "utf8");
const PROGRAM = /^```python\n(# (\w+\.py): .*?)^```$/gms;

/** Whether the packages are installed; installs them when they are not. */
export const hasRecipes = (): boolean => hasVenv(VENV, PACKAGES);

export const RECIPES: ReadonlyMap<string, string> = new Map(
  PAGE.matchAll(PROGRAM).map(([, text = "", name = ""]) => [name, text]),
);

export interface Recipes {
  start(
    program: string,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** The output of a program that ends by itself. */
  run(
    program: string,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<RecipeResult>;
}

export interface RecipeResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Writes the programs to the folder, where they run. */
export function installRecipes(folder: string, service: Pick<Service, "url" | "credentials">): Recipes {
  for (const [name, text] of RECIPES) writeFileSync(join(folder, name), text);
  const start: Recipes["start"] = (program, args = [], env = {}) =>
    Bun.spawn([venvProgram(VENV, "python"), program, ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        GAZETTEER_URL: service.url,
        GAZETTEER_CREDENTIALS: service.credentials,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    start,
    async run(program, args, env) {
      const child = start(program, args, env);
      const [stdout, stderr, status] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { status, stdout, stderr };
    },
  };
}
