/**
 * The entities of the interface: the schemas of Device, Port, Link, Host, Topology and Cluster, and the types inferred
 * from them. Field names, types and order are those of ONOS; fields that Gazetteer adds come after them. The OpenAPI
 * document, the validation in the tests and the TypeScript types all use these schemas. A schema with an `$id` is a
 * component of that name in the OpenAPI document, also where it is nested in another one.
 */
import Type from "typebox";
import { KINDS, type Kind, portId } from "./ids.ts";
import { dateTime, flag, int64, integer, text, texts } from "./schema-parts.ts";

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
  firstSeen: dateTime("The time at which the entity appeared in the view."),
  lastChanged: dateTime("The time at which any field of the entity last changed."),
  sources: texts("The sources that claim the entity, in order of precedence."),
  revision: int64("The revision of the view at which the entity last changed."),
};
export const DRIFT_STATES = ["missing", "unplanned", "differs"] as const;
export type DriftState = (typeof DRIFT_STATES)[number];
export const Drift = Type.Object(
  {
    state: Type.Enum(DRIFT_STATES, {
      $id: "DriftState",
      description:
        "An entity is `missing` if it is intended and not observed, `unplanned` if it is observed and not intended, and `differs` if it is both and has other values than intended.",
    }),
    since: dateTime("The time since which the entity has this state."),
    fields: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          { intended: Type.Unknown(), observed: Type.Optional(Type.Unknown()) },
          { $id: "DriftField" },
        ),
        { description: "The fields that differ, by name. The name of an annotation is `annotations.KEY`." },
      ),
    ),
  },
  {
    $id: "Drift",
    description: "The difference between the entity and what is intended; absent if there is none.",
  },
);
export type Drift = Type.Static<typeof Drift>;
const drift = { drift: Type.Optional(Drift) };

/** The fields that only the view adds: no source claims them. */
export const TRACKING_FIELDS = [...Object.keys(tracking), "drift"];

export const Device = Type.Object(
  {
    id: text("The unique id of the device, such as of:0000000000000001."),
    type: DeviceType,
    available: flag("Whether the device can be reached now."),
    role: DeviceRole,
    mfr: text("The manufacturer of the device."),
    hw: text("The hardware version."),
    sw: text("The software version."),
    serial: text("The serial number."),
    driver: text("The name of the driver."),
    chassisId: text("The chassis id."),
    lastUpdate: text("The time at which the availability last changed, in epoch milliseconds as a string."),
    humanReadableLastUpdate: text("The same time for people, such as: connected since 2026-11-15T01:00:00Z."),
    annotations: Annotations,
    ...tracking,
    aliases: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: "Other ids that upstream systems use for the device, sorted. Absent if there are none.",
      }),
    ),
    ...drift,
  },
  { $id: "Device" },
);
export type Device = Type.Static<typeof Device>;

export const Port = Type.Object(
  {
    element: text("The id of the device that has the port."),
    port: text("The port number as a decimal string, or local, or controller."),
    isEnabled: Type.Boolean(),
    type: PortType,
    portSpeed: Type.Number({ description: "The speed of the port in Mb/s." }),
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
    id: text("The id of the link, which is derived from its two ends alone."),
    bidirectional: flag("Whether the link in the other direction is known too."),
    verified: flag("Whether there is more evidence for the link than unauthenticated LLDP."),
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
    id: text("The id of the host, MAC/VLAN, such as 00:00:00:00:00:01/None."),
    mac: text("The MAC address in upper-case hexadecimal digits with colons."),
    vlan: text("The VLAN: None, Any, or the tag as a decimal string."),
    innerVlan: text("The inner VLAN: None, Any, or the tag as a decimal string."),
    outerTpid: Type.String({ pattern: "^0x[0-9a-f]{4}$" }),
    configured: flag("Whether the host was configured and not discovered."),
    suspended: Type.Boolean(),
    ipAddresses: texts("The IP addresses in canonical form, IPv4 before IPv6."),
    locations: Type.Array(HostLocation, {
      minItems: 1,
      description: "The locations of the host, the newest first. There is at least one.",
    }),
    auxLocations: Type.Optional(
      Type.Array(HostLocation, {
        minItems: 1,
        description: "The auxiliary locations; absent if no source reports any.",
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
  { $id: "DriftCounts", description: "Number of entities in each state that the parameter `drift` names." },
);
export const TopologyDrift = Type.Object(
  { devices: DriftCounts, ports: DriftCounts, links: DriftCounts, hosts: DriftCounts },
  {
    $id: "TopologyDrift",
    description:
      "The numbers of entities that differ from what is intended. Present only with the parameter `drift`.",
  },
);
export type TopologyDrift = Type.Static<typeof TopologyDrift>;

export const Topology = Type.Object(
  {
    time: int64("The time of the last change of the graph, in epoch milliseconds."),
    devices: Type.Integer(),
    links: Type.Integer(),
    clusters: integer(
      "Number of strongly connected components of available devices and active links, without INDIRECT links.",
    ),
    hosts: Type.Integer(),
    drift: Type.Optional(TopologyDrift),
  },
  { $id: "Topology" },
);
export type Topology = Type.Static<typeof Topology>;

export const Cluster = Type.Object(
  {
    id: integer("The number of the cluster. Clusters are numbered from 0."),
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
