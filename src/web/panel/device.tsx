/** The facts of one device, its buttons and its ports. */
import type { Device } from "../../model/entity.ts";
import { UnpinButton } from "../arrange/unpin-button.tsx";
import { missingPorts } from "../data/drift-list.ts";
import { formatCount, formatType } from "../data/entity-names.ts";
import { hostsAtDevice } from "../data/hosts.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import { filterText } from "../table/filter.ts";
import { DriftNote } from "./drift.tsx";
import { annotationFacts, Badge, ConflictNote, Facts, joinNonEmpty, Section, Time } from "./elements.tsx";
import { HostsFault } from "./hosts-fault.tsx";
import { Loaded } from "./loaded.tsx";
import { PortsTable } from "./ports-table.tsx";

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
          ["Speaks", joinNonEmpty([annotations.protocol, annotations.channelId], " ")],
          ["Hardware", [device.mfr, device.hw].filter((text) => text !== "unknown").join(" ")],
          ["Software", device.sw],
          ["Serial", device.serial],
          ["Role", device.role === "NONE" ? "" : device.role.toLowerCase()],
          ["Sources", device.sources.join(", ")],
          ["First seen", !isMissing && <Time key="first" timestamp={device.firstSeen} />],
          ["Last change", <Time key="last" timestamp={device.lastChanged} />],
          ...annotationFacts(annotations),
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
  return (
    <Badge tone={device.available ? "good" : "bad"}>
      <span>
        {device.available ? "Up since " : "Down since "}
        <Time timestamp={new Date(Number(device.lastUpdate)).toISOString()} />
      </span>
    </Badge>
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
