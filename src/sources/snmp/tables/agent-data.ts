/**
 * What one SNMP agent returned, as the walk stores it and the mapping reads it. Values are as on the wire: nothing is
 * decoded before the mapping, because whether an OCTET STRING is a text, an address or a set of bits depends on its column.
 */

/** OBJECT IDENTIFIERs are dotted texts; OCTET STRING, IpAddress and Opaque are bytes; Counter64 may be a bigint. */
export type SnmpValue = number | bigint | string | Uint8Array;

/** Column or scalar OID → index (the rest of the OID, dotted; "0" for a scalar) → value. The columns are those of `WALKED`. */
export type SnmpColumns = ReadonlyMap<string, ReadonlyMap<string, SnmpValue>>;

export interface AgentData {
  /** `host:port` as configured. */
  readonly target: string;
  /** The IP address that answers. */
  readonly address: string;
  readonly columns: SnmpColumns;
}
