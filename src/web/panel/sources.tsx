/**
 * The claims of each source about an entity, and the claim from which each field has its value. They are loaded when the
 * user opens the section, because the service has to read every claim.
 */
import type { Client } from "../../client/client.ts";
import type { ExplainedClaim, Explanation } from "../../model/explanation.ts";
import { useStore } from "../data/page-store.ts";
import type { EntityRef } from "../data/view-state.ts";
import { LazyDetails } from "../elements/controls.tsx";
import { Badge, formatValue, Loaded, TableHead, Time } from "./parts.tsx";

interface SourceClaimsProps {
  readonly entityRef: EntityRef;
  readonly revision: number;
}

export function SourceClaims({ entityRef, revision }: SourceClaimsProps) {
  const { client, state } = useStore();
  const { at } = state.value;
  return (
    <LazyDetails class="claims" summary="What each source says">
      {() => (
        <Loaded
          version={`${revision} ${at}`}
          load={(signal) => loadExplanation(client, entityRef, at, signal)}
        >
          {(explanation) => <ExplanationView explanation={explanation} />}
        </Loaded>
      )}
    </LazyDetails>
  );
}

async function loadExplanation(
  client: Client,
  { kind, id }: EntityRef,
  at: string | undefined,
  signal: AbortSignal,
): Promise<Explanation> {
  const response = await client.raw(`${kind}/${encodeURIComponent(id)}`, { explain: true, at }, { signal });
  return response.json();
}

function ExplanationView({ explanation }: { readonly explanation: Explanation }) {
  const { claims, identity = [] } = explanation;
  return (
    <>
      <ol class="claim-sources">
        {claims.map((claim) => (
          <ClaimSource key={`${claim.source} ${claim.id}`} claim={claim} shownId={explanation.id} />
        ))}
      </ol>
      {identity.map(({ rule, value, ids }) => (
        <p key={`${rule} ${value}`} class="muted">{`One device by ${rule} ${value}: ${ids.join(", ")}`}</p>
      ))}
      <FieldTable explanation={explanation} />
    </>
  );
}

function ClaimSource({ claim, shownId }: { readonly claim: ExplainedClaim; readonly shownId: string }) {
  const { source, role, status, staleSince, id } = claim;
  return (
    <li>
      {source}
      {role === "intended" && <Badge>plan</Badge>}
      {status === "stale" && (
        <Badge tone="doubt">
          {"stale"}
          {staleSince !== undefined && (
            <>
              {" since "}
              <Time timestamp={staleSince} />
            </>
          )}
        </Badge>
      )}
      {id !== shownId && <code>{id}</code>}
    </li>
  );
}

/** The claimed fields by name. The names are those of `fields`: an annotation is `annotations.KEY`. */
function claimedFields({ claim }: ExplainedClaim): Map<string, unknown> {
  const { annotations, ...fields } = claim;
  const result = new Map(Object.entries(fields));
  if (annotations !== null && typeof annotations === "object")
    for (const [key, value] of Object.entries(annotations)) result.set(`annotations.${key}`, value);
  return result;
}

function FieldTable({ explanation: { claims, fields } }: { readonly explanation: Explanation }) {
  const claimed = claims.map((claim) => ({ claim, values: claimedFields(claim) }));
  const names = new Set(claimed.flatMap(({ values }) => [...values.keys()]));
  names.delete("id");
  return (
    <table class="ports claim-fields">
      <TableHead titles={["Field", "Source", "Says"]} />
      {[...names].map((name) => {
        const rows = claimed.filter(({ values }) => values.has(name));
        const field = fields[name];
        return (
          <tbody key={name}>
            {rows.map(({ claim: { source, role, id }, values }, i) => {
              const wins = role === "observed" && field?.source === source;
              return (
                <tr key={`${source} ${id}`} class={wins ? "wins" : ""}>
                  {i === 0 && (
                    <th scope="rowgroup" rowSpan={rows.length} title={field?.why}>
                      {name}
                    </th>
                  )}
                  <td>{source}</td>
                  <td>
                    {formatValue(values.get(name))}
                    {wins && <Badge tone="good">shown</Badge>}
                    {wins && <div class="muted">{field.why}</div>}
                  </td>
                </tr>
              );
            })}
            {field && field.source === null && (
              <tr>
                <td colSpan={3} class="muted">{`Shown: ${formatValue(field.value)} (${field.why})`}</td>
              </tr>
            )}
          </tbody>
        );
      })}
    </table>
  );
}
