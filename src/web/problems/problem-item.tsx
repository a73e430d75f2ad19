/** One problem of the list: what and where it is, since when, what it cuts off, and whether it is acknowledged. */
import { useSignal } from "@preact/signals";
import type { CutOff, NetworkProblem } from "../../model/network-problem.ts";
import { deviceNameById, formatCount } from "../data/entity-names.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { formatState } from "../data/view-state.ts";
import { EntityLink, Time } from "../panel/elements.tsx";
import { goToProblem, problemName, problemView } from "./problem-target.ts";
import { KIND_SIGNS, ProblemSign } from "./signs.tsx";

interface ProblemItemProps {
  readonly problem: NetworkProblem;
  readonly onAcknowledge: (problem: NetworkProblem, acknowledged: boolean) => void;
}

export function ProblemItem({ problem, onAcknowledge }: ProblemItemProps) {
  const store = useStore();
  const { state, problems } = store;
  const network = useNetwork();
  const sign = KIND_SIGNS[problem.kind];
  const name = problemName(network, problem);
  const isAcknowledged = problems.acknowledged.has(problem);
  const word = isAcknowledged ? "Acknowledged" : "Acknowledge";
  return (
    <li class={isAcknowledged ? "problem acknowledged" : "problem"}>
      <ProblemSign sign={sign} severity={problem.severity} />
      <div class="problem-body">
        <a
          class="problem-link"
          href={formatState({ ...state.value, ...problemView(problem) })}
          aria-current={state.value.problem === problem.id ? "true" : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            goToProblem(store, problem);
          }}
        >
          <span class="problem-kind">{sign.title}</span> <strong>{name}</strong>
        </a>
        <p class="problem-text">{problem.text}</p>
        <p class="muted">
          Since <Time timestamp={problem.since} />
        </p>
        <CutOffDetails cutOff={problem.cutOff} />
      </div>
      <button
        type="button"
        class="text-button acknowledge"
        aria-pressed={isAcknowledged}
        aria-label={`${word}: ${sign.title} ${name}`}
        onClick={() => onAcknowledge(problem, !isAcknowledged)}
      >
        {word}
      </button>
    </li>
  );
}

/** The ids are rendered when they are opened: a problem may have a hundred. */
function CutOffDetails({ cutOff: { devices, deviceCount, hostCount } }: { readonly cutOff: CutOff }) {
  const network = useNetwork();
  const open = useSignal(false);
  if (deviceCount === 0) return null;
  const rest = deviceCount - devices.length;
  return (
    <details
      class="cut-off"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>{`Cuts off ${formatCount(deviceCount, "device")}, ${formatCount(hostCount, "host")}`}</summary>
      {open.value && (
        <ul>
          {devices.map((id) => (
            <li key={id}>
              <EntityLink to={{ kind: "devices", id }}>
                {network ? deviceNameById(network, id) : id}
              </EntityLink>
              {network?.devices.get(id)?.annotations?.name !== undefined && <span class="muted"> {id}</span>}
            </li>
          ))}
          {rest > 0 && <li class="muted">{`and ${rest.toLocaleString("en")} more`}</li>}
        </ul>
      )}
    </details>
  );
}
