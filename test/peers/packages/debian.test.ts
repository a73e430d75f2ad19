/**
 * The Debian package on a machine with systemd: installed, started by its unit with all restrictions, reloaded, watched,
 * upgraded and removed.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildDebianPackage } from "../../../scripts/release/debian-package.ts";
import { bootMachine, canBoot } from "../../../scripts/release/machine.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { needs, reportMissing } from "../../support/needs.ts";
import { GAZETTEER } from "../../support/service.ts";
import { until } from "../../support/until.ts";

/** It only ends a hang: a machine starts, and 126 MB are installed three times. */
setDefaultTimeout(600_000);

const folder = temporaryFolder();
const isPossible = needs("dpkg-deb", "systemd-analyze", "curl") && process.env.TEST_EXECUTABLE !== undefined;
const canInstall = isPossible && canBoot();
if (!canInstall) reportMissing("root, systemd and dist/gazetteer are needed to install the Debian package");

const packages = new Map<string, string>();
beforeAll(() => {
  if (!isPossible) return;
  for (const version of ["1.0.0", "1.0.1"]) {
    const common = { executable: GAZETTEER, architecture: "amd64", folder, date: new Date(0) } as const;
    packages.set(version, buildDebianPackage({ ...common, version, compression: "none" }));
  }
});

test.skipIf(!canInstall)("it is installed, serves, is reloaded, upgraded and removed", async () => {
  await using machine = await bootMachine();
  const sh = async (script: string) => {
    const { status, output } = await machine.sh(script);
    expect([script, status, output]).toEqual([script, 0, output]);
    return output;
  };
  const install = async (version: string) => {
    copyFileSync(packages.get(version) ?? "", join(machine.root, "root", "gazetteer.deb"));
    await sh("dpkg --install gazetteer.deb");
  };
  const property = async (name: string) => (await sh(`systemctl show gazetteer -P ${name}`)).trim();
  const password = () => readFileSync(join(machine.root, "var/lib/gazetteer/first-password"), "utf8").trim();
  const get = (path: string) => sh(`curl -sS -u reader:${password()} http://127.0.0.1:8181${path}`);

  await install("1.0.0");
  expect(await property("ActiveState")).toBe("active");
  expect(await property("StatusText")).toBe("Serving 0 devices, 0 links, 0 hosts from 0 sources");
  expect(await sh("journalctl --unit gazetteer --output cat")).not.toContain(password());
  expect(
    await sh("stat -c '%U %a' /var/lib/gazetteer /var/lib/gazetteer/first-password /etc/gazetteer"),
  ).toBe("gazetteer 700\ngazetteer 600\nroot 750\n");
  await sh("bash -c '. /usr/share/bash-completion/completions/gazetteer; complete -p gazetteer'");
  expect(await sh("cat /usr/share/gazetteer/prometheus/gazetteer.rules.yml")).toContain(
    "alert: GazetteerDown",
  );
  expect(await sh("cat /usr/share/gazetteer/grafana/gazetteer.json")).toContain('"uid": "gazetteer"');
  expect(await sh("zcat /usr/share/man/man1/gazetteer.1.gz")).toContain("\n.SS gazetteer serve ");

  // All that the restrictions of the unit could forbid: threads, processes, other programs, files.
  const sources = [
    { type: "demo", devices: 5, hosts: 0, churn: 0 },
    { type: "exec", command: ["/bin/sh", "-c", `echo '{"devices":[{"id":"of:exec"}]}'`] },
  ];
  const config = join(machine.root, "etc/gazetteer/gazetteer.yaml");
  const changed = JSON.stringify({
    data: "/var/lib/gazetteer",
    accessLog: "/var/log/gazetteer/access.log",
    sources,
  });
  writeFileSync(config, changed);
  await sh("gazetteer check /etc/gazetteer/gazetteer.yaml");
  await sh("systemctl reload gazetteer");
  const devices = async () => JSON.parse(await get("/controller/v1/topology")).devices;
  await until(async () => (await devices()) === 6, { what: "the sources" });
  writeFileSync(join(machine.root, "etc/default/gazetteer"), "GAZETTEER_READERS=2\n");
  await sh("systemctl restart gazetteer");
  await until(async () => (await devices()) === 6, { what: "the sources" });
  expect(await get("/controller/v1/topology?format=svg")).toContain("<svg");
  await until(async () => JSON.parse(await get("/readyz")).readers.alive === 2, {
    what: "the reader process",
  });
  await until(async () => (await sh("cat /var/log/gazetteer/access.log")).includes("/readyz"), {
    what: "a line",
  });

  // A process that is stopped reports nothing any more: the watchdog starts another one.
  await sh("mkdir -p /run/systemd/system/gazetteer.service.d");
  await sh("printf '[Service]\\nWatchdogSec=5\\n' > /run/systemd/system/gazetteer.service.d/watchdog.conf");
  await sh("systemctl daemon-reload; systemctl restart gazetteer");
  await sh(`kill -STOP ${await property("MainPID")}`);
  await until(
    async () => (await property("NRestarts")) === "1" && (await property("ActiveState")) === "active",
    {
      what: "the watchdog",
    },
  );

  await sh(
    "rm -r /run/systemd/system/gazetteer.service.d; systemctl daemon-reload; systemctl restart gazetteer",
  );

  const logId = JSON.parse(await get("/readyz")).logId;
  const before = await property("MainPID");
  await install("1.0.1");
  expect(await sh("dpkg-query --show gazetteer")).toContain("1.0.1");
  expect(await property("ActiveState")).toBe("active");
  expect(await property("MainPID")).not.toBe(before);
  expect(JSON.parse(await get("/readyz")).logId).toBe(logId);
  expect(readFileSync(config, "utf8")).toBe(changed);

  await sh("dpkg --remove gazetteer");
  expect(await property("ActiveState")).toBe("inactive");
  await sh(
    "test -e /etc/gazetteer/gazetteer.yaml -a -e /var/lib/gazetteer/log.sqlite -a ! -e /usr/bin/gazetteer",
  );
  await install("1.0.1");
  expect(JSON.parse(await get("/readyz")).logId).toBe(logId);
  await sh("dpkg --purge gazetteer");
  await sh(
    "test ! -e /etc/gazetteer -a ! -e /var/lib/gazetteer -a ! -e /var/log/gazetteer -a ! -e /etc/default/gazetteer",
  );
  expect((await machine.sh("getent passwd gazetteer")).status).not.toBe(0);
});

test.skipIf(!isPossible)("the unit is valid and closed as far as the runtime allows", () => {
  const unit = join(folder, "gazetteer.service");
  const text = readFileSync(join(import.meta.dir, "../../../packaging/gazetteer.service"), "utf8");
  writeFileSync(unit, text.replaceAll("/usr/bin/gazetteer", GAZETTEER));
  for (const command of [
    ["verify", "--man=no"],
    ["security", "--offline=true", "--threshold=20", "--no-pager"],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", ...command, unit]);
    expect([command, exitCode, stderr.toString()]).toEqual([command, 0, ""]);
  }
});
