/**
 * The entities of the interface: the schemas of Device, Port, Link, Host, Topology and Cluster, and the types inferred
 * from them. Field names, types and order are those of ONOS; fields that Gazetteer adds come after them. The OpenAPI
 * document, the validation in the tests and the TypeScript types all use these schemas. A schema with an `$id` is a
 * component of that name in the OpenAPI document, also where it is nested in another one.
 */
import Type from "typebox";
import { KINDS, type Kind, portId } from "./ids.ts";

const text = (description: string) => Type.String({ description });
/** Epoch milliseconds and revisions need 64 bits: a generated client must not read them as a 32-bit number. */
export const int64 = (description: string) => Type.Integer({ format: "int64", description });

export const DEVICE_TYPES = [
  "SWITCH", "ROUTER", "ROADM", "OTN", "ROADM_OTN", "FIREWALL", "BALANCER", "IPS", "IDS", "CONTROLLER", "VIRTUAL",
  "FIBER_SWITCH", "MICROWAVE", "OLT", "ONU", "OPTICAL_AMPLIFIER", "OLS", "TERMINAL_DEVICE", "SERVER", "OTHER",
] as const; // biome-ignore format: a list of words
export const DEVICE_ROLES = ["MASTER", "STANDBY", "NONE"] as const;
export const LINK_TYPES = ["DIRECT", "INDIRECT", "EDGE", "TUNNEL", "OPTICAL", "VIRTUAL"] as const;
export const LINK_STATES = ["ACTIVE", "INACTIVE"] as const;
export const PORT_TYPES = ["copper", "fiber", "packet", "oduclt", "och", "oms", "virtual", "otu"] as const;

export const DeviceType = Type.Enum(DEVICE_TYPES, { $id: "DeviceType" });
export const DeviceRole = Type.Enum(DEVICE_ROLES, { $id: "DeviceRole" });
export const LinkType = Type.Enum(LINK_TYPES, { $id: "LinkType" });
export const LinkState = Type.Enum(LINK_STATES, { $id: "LinkState" });
export const PortType = Type.Enum(PORT_TYPES, { $id: "PortType" });

/** The kind of entity that a record is about. */
export const Collection = Type.Enum(KINDS, { $id: "Collection" });

export const Annotations = Type.Record(Type.String(), Type.String(), {
  $id: "Annotations",
  description: "Free text about the entity. Keys and values are strings.",
});
export type Annotations = Type.Static<typeof Annotations>;

/** The fields that Gazetteer adds to every entity. */
const tracking = {
  firstSeen: Type.String({ format: "date-time", description: "When it appeared in the view." }),
  lastChanged: Type.String({ format: "date-time", description: "When any of its fields last changed." }),
  sources: Type.Array(Type.String(), { description: "The sources that claim it, in order of precedence." }),
  revision: int64("The view's revision at which it last changed."),
};
export const DRIFT_STATES = ["missing", "unplanned", "differs"] as const;
export type DriftState = (typeof DRIFT_STATES)[number];
export const Drift = Type.Object(
  {
    state: Type.Enum(DRIFT_STATES, {
      $id: "DriftState",
      description:
        "`missing`: intended and not observed. `unplanned`: observed and not intended. `differs`: both, with other values.",
    }),
    since: Type.String({ format: "date-time", description: "Since when it has this state." }),
    fields: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          { intended: Type.Unknown(), observed: Type.Optional(Type.Unknown()) },
          { $id: "DriftField" },
        ),
        { description: "Where it differs: by field, an annotation as `annotations.KEY`." },
      ),
    ),
  },
  { $id: "Drift", description: "How it differs from what is intended; absent where it does not." },
);
export type Drift = Type.Static<typeof Drift>;
const drift = { drift: Type.Optional(Drift) };

/** The fields that only the view adds: no source claims them. */
export const TRACKING_FIELDS = [...Object.keys(tracking), "drift"];

export const Device = Type.Object(
  {
    id: text("Unique id, such as of:0000000000000001."),
    type: DeviceType,
    available: Type.Boolean({ description: "Whether the device can be reached now." }),
    role: DeviceRole,
    mfr: text("Maker."),
    hw: text("Hardware version."),
    sw: text("Software version."),
    serial: text("Serial number."),
    driver: text("Driver name."),
    chassisId: text("Chassis id."),
    lastUpdate: text("Epoch milliseconds at which availability last changed, as a string."),
    humanReadableLastUpdate: text("The same for people: connected or disconnected since when."),
    annotations: Annotations,
    ...tracking,
    aliases: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description:
          "Other ids of the device, as upstream systems call it; sorted. Absent where there are none.",
      }),
    ),
    ...drift,
  },
  { $id: "Device" },
);
export type Device = Type.Static<typeof Device>;

export const Port = Type.Object(
  {
    element: text("Id of the device that has the port."),
    port: text("Port number as a decimal string, local or controller."),
    isEnabled: Type.Boolean(),
    type: PortType,
    portSpeed: Type.Number({ description: "Mb/s." }),
    annotations: Type.Optional(Annotations),
    ...tracking,
    ...drift,
  },
  { $id: "Port" },
);
export type Port = Type.Static<typeof Port>;

export const LinkEnd = Type.Object({ port: Type.String(), device: Type.String() }, { $id: "Endpoint" });

export const Link = Type.Object(
  {
    src: LinkEnd,
    dst: LinkEnd,
    type: LinkType,
    state: LinkState,
    annotations: Type.Optional(Annotations),
    id: text("Derived from the two ends alone."),
    bidirectional: Type.Boolean({ description: "The link in the other direction is known too." }),
    verified: Type.Boolean({ description: "False when the only evidence is unauthenticated LLDP." }),
    ...tracking,
    ...drift,
  },
  { $id: "Link" },
);
export type Link = Type.Static<typeof Link>;

export const HostLocation = Type.Object(
  { elementId: Type.String(), port: Type.String() },
  { $id: "Location" },
);
export type HostLocation = Type.Static<typeof HostLocation>;

export const Host = Type.Object(
  {
    id: text("MAC/VLAN, such as 00:00:00:00:00:01/None."),
    mac: text("MAC address, upper-case hex with colons."),
    vlan: text("None, Any, or the tag as a decimal string."),
    innerVlan: text("None, Any, or the inner tag."),
    outerTpid: Type.String({ pattern: "^0x[0-9a-f]{4}$" }),
    configured: Type.Boolean({ description: "Set by configuration rather than discovered." }),
    suspended: Type.Boolean(),
    ipAddresses: Type.Array(Type.String(), { description: "IPv4 before IPv6, each in canonical form." }),
    locations: Type.Array(HostLocation, { minItems: 1, description: "Newest first, never empty." }),
    auxLocations: Type.Optional(
      Type.Array(HostLocation, {
        minItems: 1,
        description: "Auxiliary locations, where a source reports any.",
      }),
    ),
    location: HostLocation,
    annotations: Type.Optional(Annotations),
    ...tracking,
    ...drift,
  },
  { $id: "Host" },
);
export type Host = Type.Static<typeof Host>;

const driftCount = Type.Optional(Type.Integer({ minimum: 0 }));
const DriftCounts = Type.Object(
  { missing: driftCount, unplanned: driftCount, differs: driftCount },
  { $id: "DriftCounts", description: "How many there are of each state that `drift` names." },
);
export const TopologyDrift = Type.Object(
  { devices: DriftCounts, ports: DriftCounts, links: DriftCounts, hosts: DriftCounts },
  { $id: "TopologyDrift", description: "Only with the parameter `drift`." },
);
export type TopologyDrift = Type.Static<typeof TopologyDrift>;

export const Topology = Type.Object(
  {
    time: int64("Epoch milliseconds of the last change of the graph."),
    devices: Type.Integer(),
    links: Type.Integer(),
    clusters: Type.Integer({
      description:
        "Strongly connected components of available devices and active links, without INDIRECT links.",
    }),
    hosts: Type.Integer(),
    drift: Type.Optional(TopologyDrift),
  },
  { $id: "Topology" },
);
export type Topology = Type.Static<typeof Topology>;

export const Cluster = Type.Object(
  {
    id: Type.Integer({ description: "Counts from 0." }),
    deviceCount: Type.Integer(),
    linkCount: Type.Integer(),
    root: text("The device of the cluster with the lowest id."),
  },
  { $id: "Cluster" },
);
export type Cluster = Type.Static<typeof Cluster>;

/** The entity type of each collection. */
export interface Entities {
  devices: Device;
  ports: Port;
  links: Link;
  hosts: Host;
}

/** The id under which an entity is shown. */
export const entityId = (entity: Entities[Kind]): string =>
  "element" in entity ? portId(entity.element, entity.port) : entity.id;

export const ENTITY_SCHEMAS = { devices: Device, ports: Port, links: Link, hosts: Host } as const;
