/**
 * The programs that the tests run on openapi.json: linters, a client generator and TypeScript 5. They are a package of
 * their own with a lockfile of its own, so that none of them is a dependency of Gazetteer. Installed when a test needs
 * them; where that is not possible, the tests are skipped.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { reportMissing } from "../../support/needs.ts";

const folder = import.meta.dir;
export const OPENAPI_JSON = join(folder, "..", "..", "..", "openapi.json");
export const MODULES = join(folder, "node_modules");

const changedMs = (path: string) => (existsSync(path) ? statSync(path).mtimeMs : 0);

/** Whether the programs are installed, after installing them where needed. */
export function installTools(): boolean {
  if (changedMs(join(MODULES, ".package-lock.json")) >= changedMs(join(folder, "package-lock.json")))
    return true;
  console.error("installing the OpenAPI tools (npm ci --prefix test/peers/openapi), once …");
  const flags = ["--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { success, stderr } = Bun.spawnSync(["npm", "ci", ...flags], { stdout: "ignore", stderr: "pipe" });
  if (success) return true;
  reportMissing(`the OpenAPI tools could not be installed: ${stderr.toString().trim().split("\n")[0]}`);
  return false;
}

export interface ToolResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the package by its name, or `node`. */
export async function runTool(name: string, args: readonly string[], cwd = folder): Promise<ToolResult> {
  const program = name === "node" ? name : join(MODULES, ".bin", name);
  const child = Bun.spawn([program, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    // Nothing is sent to anyone, and no newer version is looked for.
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, stdout, stderr };
}
