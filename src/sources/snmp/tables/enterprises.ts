/** Manufacturers by the enterprise number in sysObjectID (IANA), for devices without ENTITY-MIB. */
const ENTERPRISES: ReadonlyMap<string, string> = new Map([
  ["9", "Cisco"],
  ["11", "Hewlett-Packard"],
  ["43", "3Com"],
  ["171", "D-Link"],
  ["207", "Allied Telesis"],
  ["248", "Hirschmann"],
  ["318", "APC"],
  ["674", "Dell"],
  ["890", "Zyxel"],
  ["1588", "Brocade"],
  ["1916", "Extreme Networks"],
  ["1991", "Foundry Networks"],
  ["2011", "Huawei"],
  ["2636", "Juniper Networks"],
  ["3902", "ZTE"],
  ["4526", "Netgear"],
  ["6486", "Alcatel-Lucent Enterprise"],
  ["6527", "Nokia"],
  ["8072", "Net-SNMP"],
  ["10002", "Ubiquiti"],
  ["11863", "TP-Link"],
  ["12356", "Fortinet"],
  ["14823", "Aruba"],
  ["14988", "MikroTik"],
  ["17713", "Cambium Networks"],
  ["25461", "Palo Alto Networks"],
  ["25506", "H3C"],
  ["30065", "Arista Networks"],
  ["40310", "Cumulus Networks"],
  ["41112", "Ubiquiti"],
  ["47196", "Aruba"],
]);
const ENTERPRISE = /^1\.3\.6\.1\.4\.1\.(\d+)(?:\.|$)/;

export const enterpriseName = (objectId: string): string =>
  ENTERPRISES.get(ENTERPRISE.exec(objectId)?.[1] ?? "") ?? "";
