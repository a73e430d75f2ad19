/** The facts of one host, and of the port it is attached to. */
import type { Host, Port } from "../../model/entity.ts";
import { deviceNameById } from "../data/entity-names.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import { Button } from "../elements/button.tsx";
import { DriftNote } from "./drift.tsx";
import { annotationFacts, Badge, ConflictNote, EntityLink, Facts, joinNonEmpty, Time } from "./elements.tsx";
import { Loaded } from "./loaded.tsx";

export function HostDetails({ id }: { readonly id: string }) {
  const { client, state, startPath } = useStore();
  const network = usePlannedNetwork();
  const host = network?.hosts.get(id);
  if (!network || !host) return null;
  const device = host.location.elementId;
  const { at } = state.value;
  return (
    <>
      <p class="badges">
        <Badge>Host</Badge>
        {host.configured && <Badge>Configured</Badge>}
        {host.suspended && <Badge tone="doubt">Suspended</Badge>}
      </p>
      <DriftNote drift={host.drift} />
      <ConflictNote annotations={host.annotations} />
      <ul class="ends">
        {host.locations.map(({ elementId, port }, i) => (
          <li key={`${elementId} ${port}`}>
            {i === 0 ? "On " : "Also on "}
            <EntityLink to={{ kind: "devices", id: elementId }}>
              {deviceNameById(network, elementId)}
            </EntityLink>
            {` port ${port}`}
          </li>
        ))}
      </ul>
      <Loaded
        key={device}
        version={`${network.devices.get(device)?.revision} ${at}`}
        load={(signal) => client.ports(device, at === undefined ? {} : { at }, { signal })}
      >
        {({ ports }) => <HostPort host={host} ports={ports} />}
      </Loaded>
      <div class="actions">
        <Button label="Path from here" onClick={() => startPath({ kind: "hosts", id })} />
      </div>
      <Facts
        facts={[
          ["Addresses", host.ipAddresses.join(", ")],
          ["MAC", <code key="mac">{host.mac}</code>],
          ["VLAN", host.vlan === "None" ? "none" : host.vlan],
          ["Sources", host.sources.join(", ")],
          ["First seen", <Time key="first" timestamp={host.firstSeen} />],
          ["Last change", <Time key="last" timestamp={host.lastChanged} />],
          ...annotationFacts(host.annotations),
        ]}
      />
    </>
  );
}

function HostPort({ host, ports }: { readonly host: Host; readonly ports: readonly Port[] }) {
  const port = ports.find((one) => one.port === host.location.port);
  if (!port) return <p class="muted">The device has not reported this port.</p>;
  return (
    <Facts
      facts={[
        ["Port", joinNonEmpty([port.port, port.annotations?.portName], " · ")],
        ["Speed", port.portSpeed > 0 ? `${port.portSpeed / 1000} Gb/s` : ""],
        ["Port state", port.isEnabled ? "enabled" : "disabled"],
      ]}
    />
  );
}
