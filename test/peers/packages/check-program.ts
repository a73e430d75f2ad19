/**
 * What must work however the program was installed, because it needs files or processes beside the program's own code: the
 * reads, worker threads (the log, a polled source, SVG), a reload, reader processes, the documentation and the page.
 */
import { expect } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Service, type ServiceOptions, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { openTab } from "../../web/browser.ts";

const API = "/controller/v1";

/** Starts the program in an empty folder of its own, with a configuration that has a file as its source. */
export async function startInstalled(folder: string, options: ServiceOptions): Promise<Service> {
  mkdirSync(folder, { recursive: true });
  writeNetwork(folder, ["a", "b"]);
  writeConfig(folder, ["network.yaml"]);
  // Neither is for this program.
  writeFileSync(join(folder, ".env"), "GAZETTEER_ALIASES=dotenv\n");
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./nothing.ts"]\n');
  return startService({
    ...options,
    cwd: folder,
    args: ["--config", join(folder, "g.yaml"), "--data", "data"],
  });
}

const writeNetwork = (folder: string, names: readonly string[], file = "network.yaml") =>
  writeFileSync(join(folder, file), JSON.stringify({ devices: names.map((name) => ({ id: `of:${name}` })) }));

const writeConfig = (folder: string, files: readonly string[]) =>
  writeFileSync(
    join(folder, "g.yaml"),
    JSON.stringify({ readers: 2, sources: files.map((path) => ({ type: "file", name: path, path })) }),
  );

export async function checkProgram(service: Service, folder: string): Promise<void> {
  const text = async (path: string) => {
    const response = await service.fetch(path);
    expect([path, response.status]).toEqual([path, 200]);
    return response.text();
  };
  const ids = async () =>
    JSON.parse(await text(`${API}/devices`))
      .devices.map(({ id }: { id: string }) => id)
      .sort();
  await until(async () => (await ids()).length === 2, { what: "the devices of the file" });
  for (const path of ["links", "hosts", "topology", "devices?format=csv"]) await text(`${API}/${path}`);
  expect(await text(`${API}/topology?format=svg`)).toContain("<svg");
  expect(await text("/docs")).toContain('href="/docs/configuration"');
  expect(await text("/docs/style.css")).toContain("{");
  expect(await text("/docs/search-pages.js")).toContain("querySelector");
  expect(JSON.parse(await text("/openapi.json")).openapi).toStartWith("3.");
  expect((await service.fetch("/dotenv/devices")).status).toBe(404);
  await until(() => service.stderr().includes(" reader listens "), { what: "the reader process" });

  writeNetwork(folder, ["c"], "more.yaml");
  writeConfig(folder, ["network.yaml", "more.yaml"]);
  process.kill(service.pid, "SIGHUP");
  await until(async () => (await ids()).join() === "of:a,of:b,of:c", { what: "the reload" });
  expect(existsSync(join(folder, "data", "log.sqlite"))).toBe(true);
}

export async function checkPage(service: Service): Promise<void> {
  const tab = await openTab(service);
  await tab.goto("/");
  await tab.page.locator(".map-summary", { hasText: "3 devices" }).waitFor();
  expect([tab.errors, tab.externalRequests]).toEqual([[], []]);
  await tab.close();
}
