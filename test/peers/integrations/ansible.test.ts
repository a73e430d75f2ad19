/**
 * `gazetteer get devices -o ansible`, read by Ansible itself: groups, variables, and a play over a network whose texts try to
 * be templates, ranges, ports and paths.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { needs } from "../../support/needs.ts";
import { spawnCommand, startService } from "../../support/service.ts";

const folder = temporaryFolder();
const inventory = join(folder, "inventory.yaml");
const config = join(folder, "empty.cfg");
const created = join(folder, "created-by-a-template");
const template = `{{ lookup('pipe', 'touch ${created}') }}`;

const NETWORK = {
  devices: [
    {
      id: "of:0000000000000001",
      type: "SWITCH",
      mfr: "Nicira, Inc.",
      serial: template,
      annotations: {
        name: "leaf-1",
        managementAddress: "10.0.0.1:830",
        site: "Zürich",
        [template]: template,
      },
    },
    {
      id: "of:0000000000000002",
      type: "ROUTER",
      available: false,
      annotations: { name: template, site: "東京" },
    },
    { id: "of:0000000000000003", annotations: { name: "localhost", managementAddress: "2001:db8::3" } },
    { id: "of:0000000000000004", annotations: { name: "twice", site: "../a b" } },
    { id: "of:0000000000000005", annotations: { name: "twice" } },
    { id: "snmp:6", annotations: { name: "yes", note: "a\nb\u0000\u0085\u2028\ufeff\uffff\ud800 {#" } },
    { id: "snmp:7", annotations: { name: "sw[1:3]" } },
  ],
};

async function ansible(command: string, ...args: string[]) {
  const child = Bun.spawn([command, "-i", inventory, ...args], {
    // Neither the configuration of this machine nor that of its user.
    env: { PATH: process.env.PATH, LANG: "C.UTF-8", HOME: folder, ANSIBLE_CONFIG: config },
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

describe.skipIf(!needs("ansible-inventory", "ansible-playbook"))("Ansible of Debian", () => {
  beforeAll(async () => {
    writeFileSync(config, "");
    const network = join(folder, "network.json");
    writeFileSync(network, JSON.stringify(NETWORK));
    await using service = await startService({ args: ["--data", ":memory:", "--file", network] });
    const { status, stdout } = await spawnCommand(["get", "devices", "-o", "ansible", "--url", service.url], {
      env: { GAZETTEER_CREDENTIALS: service.credentials },
    });
    expect(status).toBe(0);
    writeFileSync(inventory, stdout);
  });

  test("reads the hosts, their addresses and fields, and the groups, without a warning", async () => {
    const { _meta, all, ...groups } = JSON.parse(await ansible("ansible-inventory", "--list"));
    const hosts = _meta.hostvars;
    const router = `_lookup_pipe_touch_${created.replace(/^\//, "").replaceAll("/", "_")}_`;
    const twice = ["of_0000000000000004", "of_0000000000000005"];
    const names = [router, "leaf-1", "of_0000000000000003", ...twice, "sw_1_3_", "yes"];
    expect(Object.keys(hosts).sort()).toEqual(names.toSorted());
    expect(hosts["leaf-1"].ansible_host).toBe("10.0.0.1");
    expect(hosts["leaf-1"].gazetteer).toMatchObject({
      id: "of:0000000000000001",
      available: true,
      sources: ["file"],
    });
    expect(hosts.of_0000000000000003.ansible_host).toBe("2001:db8::3");
    expect(hosts.yes.ansible_host).toBeUndefined();
    const members = Object.entries<{ hosts?: string[] }>(groups).map(([name, { hosts = [] }]) => [
      name,
      hosts.sort(),
    ]);
    expect(Object.fromEntries(members)).toEqual({
      mfr_nicira_inc: ["leaf-1"],
      site_a_b: ["of_0000000000000004"],
      site_zürich: ["leaf-1"],
      site_東京: [router],
      source_file: names.toSorted(),
      type_router: [router],
      type_switch: names.filter((name) => name !== router).toSorted(),
      unavailable: [router],
    });
    expect(all.children.sort()).toEqual(["ungrouped", ...Object.keys(groups)].sort());
  });

  test("runs a play over a group without running the templates of the network", async () => {
    const play = join(folder, "play.yaml");
    const show = "{{ inventory_hostname }} {{ gazetteer.serial }} {{ gazetteer.annotations | to_json }}";
    writeFileSync(
      play,
      JSON.stringify([
        {
          hosts: "type_switch:type_router:!site_a_b",
          gather_facts: false,
          connection: "local",
          tasks: [{ debug: { msg: show } }, { debug: { var: "gazetteer" } }],
        },
      ]),
    );
    const output = await ansible("ansible-playbook", play);
    expect(output).toMatch(/^leaf-1 +: ok=2 +changed=0 +unreachable=0 +failed=0/m);
    expect(output).not.toContain("ok: [of_0000000000000004]");
    expect(output).toContain(`leaf-1 ${template}`);
    expect(existsSync(created)).toBe(false);
  });
});
