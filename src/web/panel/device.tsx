/** The facts about a device, its buttons and its ports. */
import type { Device, Drift, Port } from "../../model/entity.ts";
import { pinOf, unpinDevices } from "../arrange/arrangement.ts";
import { DRIFT_TITLES, missingPorts } from "../data/drift-list.ts";
import { hostsAtDevice, MAX_GROUP_HOSTS } from "../data/hosts.ts";
import type { PageNetwork } from "../data/page-network.ts";
import { useNetwork, usePlannedNetwork, useStore } from "../data/page-store.ts";
import { deviceNameById, formatCount, formatType, hostName } from "../data/shown-names.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button, StateLink } from "../elements/controls.tsx";
import { goToProblem, problemTitle, problemView } from "../problems/problem-target.ts";
import { filterText } from "../table/table-filter.ts";
import {
  Badge,
  ConflictNote,
  commonFacts,
  DriftNote,
  EntityLink,
  Facts,
  formatValue,
  HostsFault,
  joinNonEmpty,
  Loaded,
  Section,
  TableHead,
  Time,
} from "./parts.tsx";

export function DeviceDetails({ id }: { readonly id: string }) {
  const { client, state, drift } = useStore();
  const device = usePlannedNetwork()?.devices.get(id);
  if (!device) return null;
  const { annotations } = device;
  const { at } = state.value;
  const isMissing = device.drift?.state === "missing";
  const planned = missingPorts(drift.value, id);
  return (
    <>
      <p class="badges">
        <Badge>{formatType(device.type)}</Badge>
        {!isMissing && <Availability device={device} />}
      </p>
      <DriftNote drift={device.drift} />
      <ConflictNote annotations={annotations} />
      <DeviceButtons id={id} />
      <HostsFault group={hostsAtDevice(id)} />
      <Facts
        facts={[
          ["Id", <code key="id">{id}</code>],
          ["Also known as", device.aliases?.join(", ")],
          ["Address", annotations.managementAddress],
          ["Control connection", joinNonEmpty([annotations.protocol, annotations.channelId], " ")],
          ["Hardware", [device.mfr, device.hw].filter((text) => text !== "unknown").join(" ")],
          ["Software", device.sw],
          ["Serial", device.serial],
          ["Role", device.role === "NONE" ? "" : device.role.toLowerCase()],
          ...commonFacts(device),
        ]}
      />
      <Section title="Ports">
        {isMissing ? (
          <PortsTable device={id} ports={planned} />
        ) : (
          <Loaded
            version={`${device.revision} ${at}`}
            load={(signal) => client.ports(id, at === undefined ? {} : { at }, { signal })}
          >
            {({ ports }) => <PortsTable device={id} ports={[...ports, ...planned]} />}
          </Loaded>
        )}
      </Section>
    </>
  );
}

function Availability({ device }: { readonly device: Device }) {
  const network = usePlannedNetwork();
  if (network?.stateOf(device) === "cut off") return <CutOffNote id={device.id} />;
  return (
    <Badge tone={device.available ? "good" : "bad"}>
      <span>
        {device.available ? "Up since " : "Down since "}
        <Time timestamp={new Date(Number(device.lastUpdate)).toISOString()} />
      </span>
    </Badge>
  );
}

/** The state of a device that is cut off, with the problem that cuts it off, if the list of problems names the device. */
function CutOffNote({ id }: { readonly id: string }) {
  const store = useStore();
  const network = useNetwork();
  const cause = store.problems.shown.value.problems.find(
    ({ causedBy, cutOff }) => causedBy === undefined && cutOff.devices.includes(id),
  );
  return (
    <>
      <Badge tone="cut-off">Cut off</Badge>
      {cause && (
        <StateLink class="entity-link" to={problemView(cause)} onFollow={() => goToProblem(store, cause)}>
          {`by ${problemTitle(network, cause)}`}
        </StateLink>
      )}
    </>
  );
}

function DeviceButtons({ id }: { readonly id: string }) {
  const { state, go, startPath } = useStore();
  const { expanded, around } = state.value;
  const hosts = usePlannedNetwork()?.hostCount(id) ?? 0;
  const isExpanded = expanded.includes(id);
  const isCentre = around === id;
  const toggleHosts = () => {
    const others = expanded.filter((other) => other !== id);
    go({ view: "map", expanded: isExpanded ? others : [...others, id] });
  };
  const toggleNeighbourhood = () =>
    go({ view: "map", around: isCentre ? undefined : id, hops: 1, camera: undefined });
  const showHosts = () => go({ view: "hosts", filter: filterText("device", id), sort: "" });
  return (
    <div class="actions">
      {hosts > 0 && <Button label={formatCount(hosts, "host")} pressed={isExpanded} onClick={toggleHosts} />}
      <Button label="Neighbourhood" pressed={isCentre} onClick={toggleNeighbourhood} />
      <UnpinButton device={id} />
      <Button label="Path from here" onClick={() => startPath({ kind: "devices", id })} />
      {hosts > 0 && <Button label="Hosts table" onClick={showHosts} />}
    </div>
  );
}

/** Maximum number of hosts that are shown at a port. The table of hosts has all of them. */
const MAX_HOSTS_SHOWN = 60;

interface PortsTableProps {
  readonly device: string;
  readonly ports: readonly Port[];
}

/** The ports of a device with the entities connected to each. Ports with a connection come first. */
function PortsTable({ device, ports }: PortsTableProps) {
  const network = usePlannedNetwork();
  if (ports.length === 0 || !network) return <p class="muted">No ports are known.</p>;
  const rows = ports
    .toSorted((p, q) => p.port.localeCompare(q.port, "en", { numeric: true }))
    .map((port) => ({ port, connections: connectionsOf(network, device, port.port) }));
  const used = rows.filter(({ connections }) => connections.length > 0);
  const free = rows.filter(({ connections }) => connections.length === 0);
  const hosts = network.openedHosts.stateOf(hostsAtDevice(device).key);
  const summary =
    hosts === "complete"
      ? formatCount(free.length, "port with nothing on it", "ports with nothing on them")
      : formatCount(free.length, "other port");
  return (
    <div>
      {hosts === "partial" && (
        <p class="muted">{`The first ${MAX_GROUP_HOSTS.toLocaleString("en")} hosts are listed; the table has all.`}</p>
      )}
      {used.length > 0 && <PortRows rows={used} />}
      {free.length > 0 && (
        <details>
          <summary>{summary}</summary>
          <PortRows rows={free} />
        </details>
      )}
    </div>
  );
}

interface PortRow {
  readonly port: Port;
  readonly connections: readonly Connection[];
}

function PortRows({ rows }: { readonly rows: readonly PortRow[] }) {
  return (
    <table class="ports">
      <TableHead titles={["Port", "Name", "Speed", "Connected to"]} />
      <tbody>
        {rows.map(({ port, connections }) => (
          <tr key={port.port} class={port.isEnabled ? "" : "disabled"}>
            <th scope="row">
              {port.port}
              {!port.isEnabled && <Badge tone="bad">off</Badge>}
              {port.drift && <PortDrift drift={port.drift} />}
            </th>
            <td>{port.annotations?.portName ?? ""}</td>
            <td>{formatSpeed(port.portSpeed)}</td>
            <td>
              <Connections connections={connections} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function PortDrift({ drift }: { readonly drift: Drift }) {
  const fields = Object.entries(drift.fields ?? {}).map(
    ([name, { intended, observed }]) =>
      `${name}: ${formatValue(intended)} planned, ${formatValue(observed)} reported`,
  );
  return (
    <>
      <span class={`state drift ${drift.state}`}>{DRIFT_TITLES[drift.state].toLowerCase()}</span>
      {fields.map((text) => (
        <div key={text} class="muted">
          {text}
        </div>
      ))}
    </>
  );
}

const formatSpeed = (mbps: number): string =>
  mbps >= 1000 ? `${mbps / 1000} G` : mbps > 0 ? `${mbps} M` : "";

function Connections({ connections }: { readonly connections: readonly Connection[] }) {
  const hidden = connections.filter(({ to }) => to.kind === "hosts").length - MAX_HOSTS_SHOWN;
  const shown = hidden > 0 ? connections.slice(0, -hidden) : connections;
  return (
    <>
      {shown.map(({ to, title, detail, down }) => (
        <div key={`${to.kind} ${to.id}`}>
          <EntityLink to={to}>{title}</EntityLink>
          {detail}
          {down && <Badge tone="bad">down</Badge>}
        </div>
      ))}
      {hidden > 0 && <div class="muted">{`and ${hidden} more`}</div>}
    </>
  );
}

interface Connection {
  readonly to: EntityRef;
  readonly title: string;
  readonly detail: string;
  readonly down: boolean;
}

/** The connections of a port: cables first, then hosts. */
function connectionsOf(network: PageNetwork, device: string, port: string): Connection[] {
  const cables = network.cablesOf(device).flatMap((cable) => {
    const ends = [
      [cable.from, cable.to],
      [cable.to, cable.from],
    ] as const;
    const link = cable.links.find(({ src }) => src.device === device) ?? cable.links[0];
    return ends
      .filter(([end]) => end.device === device && end.port === port)
      .map(([, other]) => ({
        to: { kind: "links", id: link.id } as const,
        title: `${deviceNameById(network, other.device)}/${other.port}`,
        detail: "",
        down: !cable.active,
      }));
  });
  const hosts = network
    .hostsOf(device)
    .filter(({ locations }) => locations.some((at) => at.elementId === device && at.port === port))
    .map((host) => ({
      to: { kind: "hosts", id: host.id } as const,
      title: hostName(host),
      detail: ` ${host.ipAddresses[0] ?? ""}`,
      down: false,
    }));
  return [...cables, ...hosts];
}

/** The button that shows that a device is pinned and unpins it. */
function UnpinButton({ device }: { readonly device: string }) {
  const { arranging } = useStore();
  const arrangement = arranging.shown.value;
  if (!pinOf(arrangement, device)) return null;
  return (
    <Button
      label="Pinned"
      pressed={true}
      onClick={() => arranging.change(unpinDevices(arrangement, [device]))}
    />
  );
}
