/** The facts of one link, and the other direction of its cable. */
import { cableId, cableOf } from "../../model/cable.ts";
import type { Link } from "../../model/entity.ts";
import { deviceNameById } from "../data/entity-names.ts";
import { usePlannedNetwork } from "../data/page-store.ts";
import { DriftNote } from "./drift.tsx";
import { annotationFacts, Badge, ConflictNote, EntityLink, Facts, Time } from "./elements.tsx";
import { LinkMetric } from "./link-metric.tsx";

export function LinkDetails({ id }: { readonly id: string }) {
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
          <Badge tone="good">Active</Badge>
        ) : (
          <Badge tone="bad">Inactive</Badge>
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
      <Facts
        facts={[
          ["Id", <code key="id">{link.id}</code>],
          ["Sources", link.sources.join(", ")],
          ["First seen", <Time key="first" timestamp={link.firstSeen} />],
          ["Last change", <Time key="last" timestamp={link.lastChanged} />],
          ...annotationFacts(link.annotations),
        ]}
      />
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
