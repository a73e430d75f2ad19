/**
 * An Ansible inventory of devices, for `-o ansible`: YAML as the plugin `ansible.builtin.yaml` reads it, with a host for each
 * device, and groups by type, site, source and manufacturer. It is rendered here and not by the service, because names
 * must be unique and groups complete in the whole list, of which the service may send only a page.
 *
 * All texts come from the network, and Ansible trusts an inventory: it runs templates in variables, reads `a:1` as a port and
 * `[1:3]` as a range in the names of hosts, and uses these names in paths. So names are limited to harmless characters, and
 * a text that could contain a template is tagged `!unsafe`, which Ansible does not run.
 */
import { parseHostAddress } from "../model/address.ts";
import { type Row, valueAt } from "./columns.ts";
import { renderYaml } from "./yaml-text.ts";

type Variables = Readonly<Record<string, unknown>>;

export function renderInventory(devices: readonly Row[]): string {
  const hosts = new Map<string, Variables>();
  const groups = new Map<string, { readonly hosts: Map<string, Variables> }>();
  for (const [name, device] of nameHosts(devices)) {
    hosts.set(name, variablesOf(device));
    for (const groupName of groupsOf(device)) {
      const group = groups.get(groupName) ?? { hosts: new Map() };
      groups.set(groupName, group);
      group.hosts.set(name, {});
    }
  }
  const children = new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
  return renderYaml({ all: { hosts, children } }, (text) => (text.includes("{") ? "!unsafe" : undefined));
}

/** Names with a meaning in Ansible: plays and delegated tasks for `localhost` must not reach a device. */
const RESERVED_NAMES = new Set(["localhost", "all", "ungrouped"]);

/** The name of each host: that of the device if no other device has it, or else the id. */
function nameHosts(devices: readonly Row[]): Map<string, Row> {
  const byName = Map.groupBy(devices, (device) => hostName(textAt(device, "annotations.name")));
  const isName = (name: string) => name !== "" && !RESERVED_NAMES.has(name.toLowerCase());
  const hosts = new Map<string, Row>();
  const others: Row[] = [];
  for (const [name, [device, ...same]] of byName) {
    if (device && same.length === 0 && isName(name)) hosts.set(name, device);
    else others.push(...(device ? [device] : []), ...same);
  }
  for (const device of others) {
    let name = hostName(textAt(device, "id"));
    while (hosts.has(name) || !isName(name)) name += "_";
    hosts.set(name, device);
  }
  return new Map([...hosts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A name that is neither a pattern, nor an option of a command, nor a path to another folder. */
const hostName = (text: string): string => text.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[.-]+/, "");

/** Fields that change while a device stays the same, so that two inventories of an unchanged network are equal. */
const VOLATILE_FIELDS = ["lastUpdate", "humanReadableLastUpdate", "lastChanged", "revision"];

function variablesOf(device: Row): Variables {
  const address = parseHostAddress(textAt(device, "annotations.managementAddress"));
  const fields = Object.entries(device).filter(([name]) => !VOLATILE_FIELDS.includes(name));
  return { ...(address !== undefined && { ansible_host: address }), gazetteer: Object.fromEntries(fields) };
}

function groupsOf(device: Row): string[] {
  const sources = Array.isArray(device.sources) ? device.sources.map(String) : [];
  const known = (text: string) => (text.toLowerCase() === "unknown" ? "" : text);
  return [
    ...groupNames("type", [textAt(device, "type")]),
    ...groupNames("site", [textAt(device, "annotations.site")]),
    ...groupNames("source", sources),
    ...groupNames("mfr", [known(textAt(device, "mfr"))]),
    ...(device.available === false ? ["unavailable"] : []),
  ];
}

/** Ansible accepts letters and digits of all scripts, and `_`, in the names of groups. */
const groupNames = (prefix: string, values: readonly string[]): string[] =>
  values
    .map((value) =>
      value
        .normalize("NFC")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, "_")
        .replace(/^_|_$/g, ""),
    )
    .filter((value) => value !== "")
    .map((value) => `${prefix}_${value}`);

function textAt(device: Row, path: string): string {
  const value = valueAt(device, path);
  return typeof value === "string" ? value.trim() : "";
}
