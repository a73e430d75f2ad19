/**
 * docs/merging.md: the example is run by a real service as it is printed. Each request that is followed by JSON gets at least
 * that JSON; times are not compared. The other requests of the page are answered.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runCommand } from "../../support/command.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, spawnCommand, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const DOCS = join(import.meta.dir, "../../../docs");
const PAGE = readFileSync(join(DOCS, "merging.md"), "utf8");
const FILES = [...PAGE.matchAll(/^```yaml\n# (\w+\.yaml).*?\n(.*?)^```$/gms)];
const REQUESTS = [
  ...PAGE.matchAll(/^curl .*?'http:\/\/127\.0\.0\.1:8181([^']+)'\n```(?:\n```json\n(.*?)^```)?/gms),
];
const URLS = [...PAGE.matchAll(/^curl (.*)'http:\/\/127\.0\.0\.1:8181([^']+)'$/gm)];
const ISO_TIME = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

const folder = temporaryFolder();
let service: Service;
beforeAll(async () => {
  for (const [, name = "", text = ""] of FILES) writeFileSync(join(folder, name), text);
  service = await startService({
    args: ["--config", "gazetteer.yaml", "--data", ":memory:"],
    cwd: folder,
  });
  await until(async () => (await text("/controller/v1/devices?drift=missing")).includes("netbox:9"), {
    what: "the plan of the example",
  });
});
afterAll(() => service?.kill());

const text = async (path: string): Promise<string> => {
  const response = await service.fetch(path);
  expect([path, response.status]).toEqual([path, 200]);
  return await response.text();
};

test("has four files and requests with their responses", () => {
  expect(FILES.map(([, name]) => name)).toEqual([
    "gazetteer.yaml",
    "openflow.yaml",
    "campus.yaml",
    "netbox.yaml",
  ]);
  expect(REQUESTS.filter(([, , json]) => json !== undefined)).toHaveLength(4);
});

const answered = REQUESTS.flatMap(([, path = "", json]) =>
  json === undefined ? [] : [[path, json] as const],
);
test.each(answered)("%s", async (path, json) => {
  const withoutTimes = (body: string) => JSON.parse(body.replaceAll(ISO_TIME, '"TIME"'));
  expect(withoutTimes(await text(path))).toMatchObject(withoutTimes(json));
});

test.each(URLS.map(([, options = "", path = ""]) => [path, options] as const))(
  "%s is answered",
  async (path, options) => {
    if (!options.includes("-N")) {
      await text(path);
      return;
    }
    const abort = new AbortController();
    const response = await service.fetch(path, {
      headers: { accept: "text/event-stream" },
      signal: abort.signal,
    });
    let received = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += chunk;
      if (received.includes("event: synced")) break;
    }
    abort.abort();
    expect(received).toContain("netbox:9");
    expect(received).not.toContain('"id":"00:00:00:00:00:0A/None"');
  },
);

test("the command of the page explains a device", async () => {
  const [, id = ""] = /`gazetteer explain (\S+)`/.exec(PAGE) ?? [];
  const { url, credentials } = service;
  const { status, stdout, stderr } = await runCommand(["explain", id], {
    env: { GAZETTEER_URL: url, GAZETTEER_CREDENTIALS: credentials },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  for (const word of ["openflow", "campus", "netbox", "Edgecore"]) expect(stdout).toContain(word);
});

test("every alias of the example works in a path", async () => {
  for (const alias of ["lldp:52:54:00:A1:B2:01", "LLDP:52:54:00:a1:b2:01"])
    expect(await text(`/controller/v1/devices/${alias}`)).toContain("of:0000525400a1b201");
});

test("the first configuration of the page is a valid one", async () => {
  const [, config = ""] = /^```yaml\n(identity:.*?)^```$/ms.exec(PAGE) ?? [];
  const checked = temporaryFolder();
  writeFileSync(join(checked, "gazetteer.yaml"), config);
  writeFileSync(join(checked, "c"), "public\n", { mode: 0o600 });
  writeFileSync(join(checked, "plan.yaml"), "devices: []\n");
  const { status, stderr } = await spawnCommand(["check", "gazetteer.yaml"], {
    cwd: checked,
    env: { GAZETTEER_CREDENTIALS: "reader:secret" },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test("every link of the page has a target", () => {
  const anchors = (page: string) =>
    [...page.matchAll(/^##+ (.*)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, "")
        .replaceAll(" ", "-"),
    );
  for (const [, target = ""] of PAGE.matchAll(/\]\(([^)]+)\)/g)) {
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? join(DOCS, "merging.md") : join(dirname(join(DOCS, "merging.md")), path);
    expect([target, existsSync(file)]).toEqual([target, true]);
    if (anchor !== undefined) expect(anchors(readFileSync(file, "utf8"))).toContain(anchor);
  }
});
