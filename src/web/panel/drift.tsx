/** How an entity differs from the plan: the state, since when, and by field what is intended and what is observed. */
import type { Drift } from "../../model/entity.ts";
import { DRIFT_TITLES } from "../data/drift-list.ts";
import { Time } from "./elements.tsx";
import { formatValue } from "./format-value.ts";

const MEANINGS: Readonly<Record<Drift["state"], string>> = {
  missing: "It is planned and not observed.",
  unplanned: "It is observed and not planned.",
  differs: "It is observed with other values than planned.",
};

export function DriftNote({ drift }: { readonly drift: Drift | undefined }) {
  if (!drift) return null;
  const fields = Object.entries(drift.fields ?? {});
  return (
    <div class={`note drift ${drift.state}`}>
      <p>
        <strong>{DRIFT_TITLES[drift.state]}</strong>
        {" since "}
        <Time timestamp={drift.since} />
        {`. ${MEANINGS[drift.state]}`}
      </p>
      {fields.length > 0 && (
        <table class="ports">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Intended</th>
              <th scope="col">Observed</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(([name, { intended, observed }]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{formatValue(intended)}</td>
                <td>{observed === undefined ? "none" : formatValue(observed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
