/**
 * The program for NetBox that docs/sources/exec.md prints, run by a real service as the plan: every page is read, the token
 * is sent in a header only and to one server only, and a failure leaves the last plan.
 */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import { startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { FakeNetbox } from "./netbox/fake-netbox.ts";

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/sources/exec.md"), "utf8");
const PROGRAM = /^```python\n(#!.*?)^```$/ms.exec(PAGE)?.[1] ?? "";
const hasPython = needs("python3");
const TOKEN = "Bearer nbt_k3y.s3cr3t";
const SETTINGS =
  "type: exec, name: netbox, role: intended, command: [./netbox.py], intervalSeconds: 300, environmentFile: netbox.env";

function install(folder: string, environment: string): void {
  writeFileSync(join(folder, "netbox.py"), PROGRAM);
  chmodSync(join(folder, "netbox.py"), 0o755);
  writeFileSync(join(folder, "netbox.env"), environment);
}

test("is short, and the page has the entry that runs it", () => {
  expect(PROGRAM.trimEnd().split("\n").length).toBeLessThan(18);
  expect(PAGE).toContain(`{${SETTINGS}}`);
});

test.skipIf(!hasPython)(
  "prints what NetBox has, over all pages, with the token in a header to one server",
  async () => {
    await using netbox = new FakeNetbox(TOKEN);
    const folder = temporaryFolder();
    install(folder, "");
    const child = Bun.spawn([join(folder, "netbox.py")], {
      env: { PATH: process.env.PATH, NETBOX_URL: netbox.url, NETBOX_AUTHORIZATION: TOKEN },
    });
    const document = await new Response(child.stdout).json();
    expect(document).toEqual({
      devices: [
        { id: "netbox:7", serial: "EC1931000042", annotations: { name: "leaf1" } },
        { id: "netbox:8", serial: "EC1931000043", annotations: { name: "spine1" } },
        { id: "netbox:9", serial: "EC1931000044", annotations: { name: "leaf2" } },
      ],
      ports: [
        { element: "netbox:7", port: 70, annotations: { portName: "eth1" } },
        { element: "netbox:7", port: 71, annotations: { portName: "eth2" } },
        { element: "netbox:8", port: 80, annotations: { portName: "eth1" } },
        { element: "netbox:9", port: 90, annotations: { portName: "eth1" } },
        { element: "netbox:9", port: 91, annotations: { portName: "eth2" } },
      ],
      // The first through a patch panel. The far end of port 91 is a device that is not active yet.
      links: [
        { src: { device: "netbox:7", port: 70 }, dst: { device: "netbox:8", port: 80 } },
        { src: { device: "netbox:7", port: 71 }, dst: { device: "netbox:9", port: 90 } },
        { src: { device: "netbox:8", port: 80 }, dst: { device: "netbox:7", port: 70 } },
        { src: { device: "netbox:9", port: 90 }, dst: { device: "netbox:7", port: 71 } },
      ],
    });
    expect(netbox.requests.map(({ path }) => path)).toEqual([
      "/api/dcim/devices/?status=active&exclude=config_context&limit=1000",
      "/api/dcim/devices/?exclude=config_context&status=active&limit=2&offset=2",
      "/api/dcim/interfaces/?limit=1000",
      "/api/dcim/interfaces/?limit=4&offset=4",
    ]);
  },
);

test.skipIf(!hasPython)("is the plan of a service, and stays it while NetBox fails", async () => {
  await using netbox = new FakeNetbox(TOKEN);
  const folder = temporaryFolder();
  install(folder, `NETBOX_URL=${netbox.url}\nNETBOX_AUTHORIZATION=${TOKEN}\n`);
  const observed = {
    devices: [
      { id: "lldp:a", serial: "ec1931000042", annotations: { name: "leaf1" } },
      { id: "lldp:b", serial: "EC1931000043", annotations: { name: "spine-1" } },
    ],
    ports: [
      { element: "lldp:a", port: 49, annotations: { portName: "eth1" } },
      { element: "lldp:a", port: 50, annotations: { portName: "eth2" } },
      { element: "lldp:b", port: 17, annotations: { portName: "eth1" } },
    ],
    links: [
      { src: { device: "lldp:a", port: 49 }, dst: { device: "lldp:b", port: 17 }, bidirectional: true },
    ],
  };
  writeFileSync(join(folder, "observed.json"), JSON.stringify(observed));
  const entry = SETTINGS.replace("300", "1");
  writeFileSync(
    join(folder, "gazetteer.yaml"),
    `data: ":memory:"\nsources:\n  - {type: file, name: campus, path: observed.json}\n  - {${entry}}\n`,
  );
  await using service = await startService({ args: ["--config", "gazetteer.yaml"], cwd: folder });
  const get = async (path: string) => await (await service.fetch(`/controller/v1${path}`)).json();
  await until(async () => (await get("/devices?drift=missing")).devices.length === 1, { what: "the plan" });
  const { devices } = await get("/devices?drift=any&fields=id,sources,drift");
  expect(devices).toMatchObject([
    { id: "lldp:b", sources: ["campus"], drift: { state: "differs" } },
    { id: "netbox:9", sources: [], drift: { state: "missing" } },
  ]);
  expect(devices[0].drift.fields).toEqual({
    "annotations.name": { intended: "spine1", observed: "spine-1" },
  });
  expect((await get("/topology?drift=any")).drift).toEqual({
    devices: { missing: 1, unplanned: 0, differs: 1 },
    ports: { missing: 2, unplanned: 0, differs: 0 },
    links: { missing: 2, unplanned: 0, differs: 0 },
    hosts: { missing: 0, unplanned: 0, differs: 0 },
  });
  netbox.isDown = true;
  const sourceOf = async () => {
    const { sources } = await (await service.fetch("/readyz")).json();
    return sources.find(({ name }: { name: string }) => name === "netbox");
  };
  await until(async () => (await sourceOf()).status === "stale", { what: "the failure of NetBox" });
  const { error } = await sourceOf();
  expect(error).toContain("netbox.py: exit status 1: urllib.error.HTTPError: HTTP Error 502: Bad Gateway");
  expect(error).not.toContain("s3cr3t");
  expect((await get("/devices?drift=missing")).devices).toHaveLength(1);
});

test.skipIf(!hasPython)("a wrong token and a server that is not there are one line each", async () => {
  await using netbox = new FakeNetbox(TOKEN);
  const folder = temporaryFolder();
  install(folder, "");
  const lastLine = async (url: string) => {
    const child = Bun.spawn([join(folder, "netbox.py")], {
      env: { PATH: process.env.PATH, NETBOX_URL: url, NETBOX_AUTHORIZATION: "Token wrong" },
      stderr: "pipe",
    });
    const text = await new Response(child.stderr).text();
    expect(await child.exited).toBe(1);
    return text.trimEnd().split("\n").at(-1);
  };
  expect(await lastLine(netbox.url)).toContain("HTTP Error 403: Forbidden");
  const gone = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { origin } = gone.url;
  await gone.stop(true);
  expect(await lastLine(origin)).toContain("Connection refused");
});

test.skipIf(!hasPython)("the token is not sent along to where NetBox redirects", async () => {
  await using elsewhere = new FakeNetbox(TOKEN);
  const netbox = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => Response.redirect(url.replace(new URL(url).origin, elsewhere.url), 302),
  });
  const folder = temporaryFolder();
  install(folder, "");
  const child = Bun.spawn([join(folder, "netbox.py")], {
    env: { PATH: process.env.PATH, NETBOX_URL: netbox.url.origin, NETBOX_AUTHORIZATION: TOKEN },
    stderr: "ignore",
  });
  expect(await child.exited).toBe(1);
  await netbox.stop(true);
  expect(elsewhere.requests.map(({ authorization }) => authorization)).toEqual([null]);
});
