/** The details of the selected device, link or host, with the buttons and the history that all three kinds have. */

import { cableId, cableOf } from "../../model/cable.ts";
import type { Host, Link, Port } from "../../model/entity.ts";
import { curlLine } from "../bar/curl.ts";
import { hostWithId } from "../data/hosts.ts";
import { formatMetric } from "../data/link-overlay.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import { deviceName, deviceNameById, deviceWithAlias, entityName } from "../data/shown-names.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button, copyText } from "../elements/controls.tsx";
import { EntityHistory } from "./change-list.tsx";
import { DeviceDetails } from "./device.tsx";
import { OutsideLinks } from "./outside-links.tsx";
import {
  Badge,
  ConflictNote,
  commonFacts,
  DriftNote,
  EntityLink,
  Facts,
  HostsFault,
  joinNonEmpty,
  Loaded,
  PanelHeading,
  Section,
} from "./parts.tsx";
import { SourceClaims } from "./sources.tsx";

export function Details({ entityRef }: { readonly entityRef: EntityRef }) {
  const store = useStore();
  const network = usePlannedNetwork();
  const copyCurl = () => {
    const request = entityRequest(entityRef, store.state.peek().at);
    void copyText(store, curlLine(location.origin, request), "the request as curl");
  };
  return (
    <>
      <PanelHeading
        title={entityName(network, entityRef)}
        closeLabel="Close details"
        onClose={() => store.go({ selected: undefined })}
      >
        <Button label="Copy as curl" icon="copy" onClick={copyCurl} />
      </PanelHeading>
      <EntityDetails {...entityRef} />
    </>
  );
}

function EntityDetails({ kind, id }: EntityRef) {
  const network = usePlannedNetwork();
  const entity = network?.[kind].get(id);
  const { drift } = useStore();
  const group = kind === "hosts" ? hostWithId(id) : undefined;
  if (!entity && group && network?.openedHosts.faultOf(group.key) !== undefined)
    return <HostsFault group={group} />;
  const isLoading = !network?.isKnown(kind, id) || drift.value === undefined;
  if (!entity && isLoading) return <p class="muted">Loading…</p>;
  const renamed = kind === "devices" && !entity ? deviceWithAlias(network, id) : undefined;
  if (renamed) {
    return (
      <p class="note">
        This is another id of{" "}
        <EntityLink to={{ kind: "devices", id: renamed.id }}>{deviceName(renamed)}</EntityLink>.
      </p>
    );
  }
  if (!entity) {
    return (
      <p class="note">
        This is not in the network shown. It may be gone, or not have been there yet: the time line goes back.
      </p>
    );
  }
  return (
    <>
      <OutsideLinks entityRef={{ kind, id }} />
      {kind === "devices" && <DeviceDetails id={id} />}
      {kind === "links" && <LinkDetails id={id} />}
      {kind === "hosts" && <HostDetails id={id} />}
      <Section title="Sources">
        <SourceClaims entityRef={{ kind, id }} revision={entity.revision} />
      </Section>
      {entity.drift?.state !== "missing" && (
        <Section title="History">
          <EntityHistory kind={kind} entity={entity} />
        </Section>
      )}
    </>
  );
}

function entityRequest({ kind, id }: EntityRef, at: string | undefined): string {
  const moment = at === undefined ? "" : `at=${at}`;
  const item = encodeURIComponent(id);
  if (kind === "devices") return `/controller/v1/devices/${item}/ports${moment && `?${moment}`}`;
  if (kind === "hosts") return `/controller/v1/hosts/${item}${moment && `?${moment}`}`;
  return `/controller/v1/links?id=${item}${moment && `&${moment}`}`;
}

/** The facts about a host and the port that it is attached to. */
function HostDetails({ id }: { readonly id: string }) {
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
          ...commonFacts(host),
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

/** The facts about a link and the other direction of its cable. */
function LinkDetails({ id }: { readonly id: string }) {
  const network = usePlannedNetwork();
  const link = network?.links.get(id);
  if (!network || !link) return null;
  const { active, oneWay, verified, links } = network.cables.get(cableId(link)) ?? cableOf(link, undefined);
  const other = links.length === 1 ? "not known" : "down";
  return (
    <>
      <p class="badges">
        <Badge>{link.type.toLowerCase()}</Badge>
        {link.drift?.state === "missing" ? null : active ? (
          <Badge tone="good">Up</Badge>
        ) : (
          <Badge tone="bad">Down</Badge>
        )}
        {oneWay && <Badge tone="doubt">{`One way: the other direction is ${other}`}</Badge>}
        {!verified && <Badge tone="doubt">Not verified</Badge>}
      </p>
      <DriftNote drift={link.drift} />
      <ConflictNote annotations={links.find(({ annotations }) => annotations?.conflict)?.annotations} />
      <ul class="ends">
        {links.map((direction) => (
          <li key={direction.id}>
            <LinkEnd end={direction.src} />
            <span class="arrow" role="img" aria-label="to">
              {" → "}
            </span>
            <LinkEnd end={direction.dst} />
            {direction.state === "INACTIVE" && <Badge tone="bad">down</Badge>}
          </li>
        ))}
      </ul>
      <LinkMetric links={links} />
      <Facts facts={[["Id", <code key="id">{link.id}</code>], ...commonFacts(link)]} />
    </>
  );
}

function LinkEnd({ end: { device, port } }: { readonly end: Link["src"] }) {
  const network = usePlannedNetwork();
  return (
    <span>
      <EntityLink to={{ kind: "devices", id: device }}>
        {network ? deviceNameById(network, device) : device}
      </EntityLink>
      {` port ${port}`}
    </span>
  );
}

/** The values of the chosen metric on one cable, one for each direction. */
function LinkMetric({ links }: { readonly links: readonly Link[] }) {
  const overlay = useStore().overlay.value;
  const network = usePlannedNetwork();
  if (!overlay || !network) return null;
  const facts = links.map(({ id, src, dst }): [string, string] => {
    const value = overlay.values.get(id);
    const [from, to] = [src.device, dst.device].map((device) => deviceNameById(network, device));
    return [
      overlay.name,
      `${value === undefined ? "no value" : formatMetric(overlay, value)}, ${from} → ${to}`,
    ];
  });
  return <Facts facts={facts} />;
}
