/**
 * The objects that the SNMP source reads. Single columns are listed instead of whole tables, because half of `ifTable` are
 * counters, which the mapping does not use.
 */
const SYSTEM = "1.3.6.1.2.1.1";
const ENTITY = "1.3.6.1.2.1.47.1.1.1.1";
const IF = "1.3.6.1.2.1.2.2.1";
const IFX = "1.3.6.1.2.1.31.1.1.1";
const LAG_PORT = "1.2.840.10006.300.43.1.2.1.1";
const LLDP_LOC = "1.0.8802.1.1.2.1.3";
const LLDP_REM = "1.0.8802.1.1.2.1.4.1.1";
const LLDP_REM_ADDRESS = "1.0.8802.1.1.2.1.4.2.1";
const CDP_CACHE = "1.3.6.1.4.1.9.9.23.1.2.1.1";
const BRIDGE = "1.3.6.1.2.1.17";
const Q_BRIDGE = `${BRIDGE}.7.1`;
const IP = "1.3.6.1.2.1.4";

/** The OIDs of columns and scalars by their names in the MIBs. An index in `AgentData` is the part after such an OID. */
export const OID = {
  sysDescr: `${SYSTEM}.1`,
  sysObjectID: `${SYSTEM}.2`,
  sysContact: `${SYSTEM}.4`,
  sysName: `${SYSTEM}.5`,
  sysLocation: `${SYSTEM}.6`,
  sysServices: `${SYSTEM}.7`,

  lldpLocChassisIdSubtype: `${LLDP_LOC}.1`,
  lldpLocChassisId: `${LLDP_LOC}.2`,
  lldpLocSysCapEnabled: `${LLDP_LOC}.6`,
  lldpLocPortIdSubtype: `${LLDP_LOC}.7.1.2`,
  lldpLocPortId: `${LLDP_LOC}.7.1.3`,
  lldpLocPortDesc: `${LLDP_LOC}.7.1.4`,
  lldpRemChassisIdSubtype: `${LLDP_REM}.4`,
  lldpRemChassisId: `${LLDP_REM}.5`,
  lldpRemPortIdSubtype: `${LLDP_REM}.6`,
  lldpRemPortId: `${LLDP_REM}.7`,
  lldpRemPortDesc: `${LLDP_REM}.8`,
  lldpRemSysName: `${LLDP_REM}.9`,
  lldpRemSysDesc: `${LLDP_REM}.10`,
  lldpRemSysCapEnabled: `${LLDP_REM}.12`,
  lldpRemManAddrIfSubtype: `${LLDP_REM_ADDRESS}.3`,
  /** RouterOS indexes its LLDP neighbours by a number of its own. This column contains the interface. */
  mtxrNeighborInterfaceID: "1.3.6.1.4.1.14988.1.1.11.1.1.8",

  cdpCacheAddressType: `${CDP_CACHE}.3`,
  cdpCacheAddress: `${CDP_CACHE}.4`,
  cdpCacheVersion: `${CDP_CACHE}.5`,
  cdpCacheDeviceId: `${CDP_CACHE}.6`,
  cdpCacheDevicePort: `${CDP_CACHE}.7`,
  cdpCachePlatform: `${CDP_CACHE}.8`,
  cdpCacheCapabilities: `${CDP_CACHE}.9`,
  cdpCacheSysName: `${CDP_CACHE}.17`,

  ifDescr: `${IF}.2`,
  ifType: `${IF}.3`,
  ifSpeed: `${IF}.5`,
  ifPhysAddress: `${IF}.6`,
  ifAdminStatus: `${IF}.7`,
  ifOperStatus: `${IF}.8`,
  ifName: `${IFX}.1`,
  ifHighSpeed: `${IFX}.15`,
  ifAlias: `${IFX}.18`,
  ifStackStatus: "1.3.6.1.2.1.31.1.2.1.3",
  dot3adAggPortSelectedAggID: `${LAG_PORT}.12`,
  dot3adAggPortAttachedAggID: `${LAG_PORT}.13`,

  entPhysicalDescr: `${ENTITY}.2`,
  entPhysicalClass: `${ENTITY}.5`,
  entPhysicalSoftwareRev: `${ENTITY}.10`,
  entPhysicalSerialNum: `${ENTITY}.11`,
  entPhysicalMfgName: `${ENTITY}.12`,
  entPhysicalModelName: `${ENTITY}.13`,

  ipAdEntIfIndex: `${IP}.20.1.2`,
  ipAddressIfIndex: `${IP}.34.1.3`,

  dot1dBaseBridgeAddress: `${BRIDGE}.1.1`,
  dot1dBasePortIfIndex: `${BRIDGE}.1.4.1.2`,
  dot1qVlanFdbId: `${Q_BRIDGE}.4.2.1.3`,
  dot1qVlanCurrentUntaggedPorts: `${Q_BRIDGE}.4.2.1.5`,
  dot1qPvid: `${Q_BRIDGE}.4.5.1.1`,
  dot1dTpFdbPort: `${BRIDGE}.4.3.1.2`,
  dot1dTpFdbStatus: `${BRIDGE}.4.3.1.3`,
  dot1qTpFdbPort: `${Q_BRIDGE}.2.2.1.2`,
  dot1qTpFdbStatus: `${Q_BRIDGE}.2.2.1.3`,

  ipNetToMediaPhysAddress: `${IP}.22.1.2`,
  ipNetToMediaType: `${IP}.22.1.4`,
  ipNetToPhysicalPhysAddress: `${IP}.35.1.4`,
  ipNetToPhysicalType: `${IP}.35.1.6`,
} as const;
export type ObjectName = keyof typeof OID;

/** Tables that change only when a device is rebuilt or restarted are read in every tenth poll. */
const RARELY = 10;

/** Returns the table of a column. Columns of one table have the same index, so one GETBULK can read them side by side. */
function tableOf(oid: string): string {
  const isScalar = oid.startsWith(`${SYSTEM}.`) || (oid.startsWith(`${LLDP_LOC}.`) && !oid.includes(".7.1."));
  return isScalar ? "scalars" : oid.slice(0, oid.lastIndexOf("."));
}

interface WalkedColumn {
  readonly oid: string;
  readonly table: string;
  /** The column is read in the first poll and in every n-th poll after it. Other polls use the values of the last read. */
  readonly every?: number;
}

/** The columns to walk, in the order of the walk: identity and neighbours first, the tables that may be large last. */
export const WALKED: readonly WalkedColumn[] = Object.values(OID).map((oid) => ({
  oid,
  table: tableOf(oid),
  ...(oid.startsWith(`${ENTITY}.`) && { every: RARELY }),
}));

// The data that one SNMP agent returned, as the walk stores it and the mapping reads it. Values are not decoded before the
// mapping, because it depends on its column whether an OCTET STRING is a text, an address or a set of bits.

/** OBJECT IDENTIFIERs are dotted texts; OCTET STRING, IpAddress and Opaque are bytes; Counter64 may be a bigint. */
export type SnmpValue = number | bigint | string | Uint8Array;

/** The values of the columns in `WALKED`, by OID and by index (the rest of the OID, dotted; "0" for a scalar). */
type SnmpColumns = ReadonlyMap<string, ReadonlyMap<string, SnmpValue>>;

export interface AgentData {
  /** `host:port` as configured. */
  readonly target: string;
  /** The IP address that answers. */
  readonly address: string;
  readonly columns: SnmpColumns;
}
