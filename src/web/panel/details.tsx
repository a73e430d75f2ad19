/** The selected device, link or host, with the buttons and the history that all three have. */

import { curlLine } from "../bar/curl.ts";
import { deviceName, deviceWithAlias, entityName } from "../data/entity-names.ts";
import { hostWithId } from "../data/hosts.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import type { EntityRef } from "../data/view-state.ts";
import { Button } from "../elements/button.tsx";
import { copyText } from "../elements/clipboard.ts";
import { DeviceDetails } from "./device.tsx";
import { EntityLink, PanelHeading, Section } from "./elements.tsx";
import { EntityHistory } from "./entity-history.tsx";
import { HostDetails } from "./host.tsx";
import { HostsFault } from "./hosts-fault.tsx";
import { LinkDetails } from "./link.tsx";
import { OutsideLinks } from "./outside-links.tsx";
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
      <PanelHeading title={entityName(network, entityRef)}>
        <Button label="Copy as curl" icon="copy" onClick={copyCurl} />
        <Button label="Close details" icon="close" onClick={() => store.go({ selected: undefined })} />
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
