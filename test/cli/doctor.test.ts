/** `gazetteer doctor`: one line a check with what to do, whether the service runs or not. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterFindings, type DoctorFinding } from "../../src/service/diagnosis.ts";
import { runCommand } from "../support/command.ts";
import { temporaryFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { startService } from "../support/service.ts";

const doctor = async (args: string[], env: Record<string, string> = {}) => {
  const { status, stdout } = await runCommand(["doctor", "-o", "json", ...args], {
    env: { XDG_CONFIG_HOME: "/nonexistent", ...env },
  });
  const findings: DoctorFinding[] = JSON.parse(stdout);
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return { status, findings, of };
};

test("a running service is found, and with credentials its sources and version are shown", async () => {
  const data = join(temporaryFolder(), "data");
  await using service = await startService({ args: ["--data", data, "--demo"], credentials: "ann:secret" });
  const flags = ["--data", data, "--demo", "--port", new URL(service.url).port];
  const known = await doctor(flags, { GAZETTEER_CREDENTIALS: "ann:secret" });
  expect(known.of("service")).toEqual([
    { check: "service", status: "ok", text: `runs at ${service.url}, ready` },
  ]);
  expect(known.of("source demo")).toEqual([{ check: "source demo", status: "ok", text: "synced" }]);
  expect(known.findings.filter(({ status }) => status === "fail")).toEqual([]);
  expect(known.status).toBe(0);
  const unknown = await doctor(flags);
  expect(unknown.of("service")[0]?.text).toContain(`gazetteer login ${service.url}`);
  const text = await runCommand(["doctor", ...flags]);
  expect(text.stdout).toMatch(/^ok {4}service {9}runs at /m);
});

test("what is wrong is a warning or a failure with its fix, and the exit status is 1", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o755 });
  chmodSync(data, 0o755);
  writeFileSync(join(data, "users"), `ci:$sha256$${"A".repeat(43)}:reader:2001-01-31T00:00:00Z\n`);
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const config = join(folder, "gazetteer.yaml");
  const url = `http://127.0.0.1:${freePort()}/onos/v1`;
  writeFileSync(
    config,
    `port: ${taken.port}\ndata: data\nsources: [{type: controller, name: onos, url: "${url}"}]\n`,
  );
  const { status, of } = await doctor([config]);
  expect(status).toBe(1);
  expect(of("configuration")[0]?.status).toBe("ok");
  expect(of("service")).toEqual([
    {
      check: "service",
      status: "fail",
      text: `127.0.0.1:${taken.port} is in use by another program`,
      fix: "find it with ss -ltnp, or set another port",
    },
  ]);
  expect(of("permissions").map(({ status: found, fix }) => [found, fix])).toEqual([
    ["warn", `chmod 700 ${data}`],
    ["warn", `chmod 600 ${join(data, "users")}`],
  ]);
  expect(of("users")[0]).toMatchObject({ status: "warn", text: "ci expired 2001-01-31T00:00:00.000Z" });
  expect(of("source onos")[0]).toMatchObject({
    status: "fail",
    text: expect.stringContaining("cannot be reached"),
  });
});

test("faults of the configuration are failures, and nothing else is checked", async () => {
  const { status, findings } = await doctor(["--set", "limits.pageLimit=0"]);
  expect(status).toBe(1);
  expect(findings.map(({ check, status: found }) => [check, found])).toEqual([["configuration", "fail"]]);
});

test("a cluster: lost nodes, offline servers, clocks and versions", () => {
  const node = (name: string, more: object) => ({
    name,
    node: name,
    url: "",
    version: "1.0.0",
    revision: 1,
    lag: 0,
    sources: [],
    held: [],
    since: 0,
    ageSeconds: 1,
    ...more,
  });
  const overview = {
    name: "lab",
    nodes: [
      node("a", {}),
      node("b", { version: "1.1.0", clockOffsetSeconds: -3 }),
      node("c", { lostSince: 1, version: "0.9.0" }),
    ],
    leases: [],
    engine: {
      stream: "s",
      replicas: 3,
      messages: 0,
      bytes: 0,
      servers: [
        { name: "n1", state: "leader" as const },
        { name: "n2", state: "offline" as const },
      ],
    },
  };
  expect(clusterFindings(overview).map(({ status, text }) => `${status} ${text}`)).toEqual([
    "fail the node c is lost",
    "fail the clock of the node b differs from NATS by -3 s",
    "fail the NATS server n2 is offline",
    "warn nodes have the versions 1.0.0, 1.1.0",
  ]);
  const healthy = { name: "lab", nodes: [node("a", {})], leases: [] };
  expect(clusterFindings(healthy)).toEqual([{ check: "cluster", status: "ok", text: "lab: 1 nodes" }]);
});
