/**
 * The list of problems beside the map, worst first, at the present or at the moment that is shown. It stays open while the
 * user goes from one problem to the next. The arrow keys move between problems, Enter shows one on the map.
 */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { CutOff, NetworkProblem } from "../../model/network-problem.ts";
import { PROBLEM_SEVERITIES, type ProblemSeverity } from "../../model/problem-kinds.ts";
import { useNetwork, useStore } from "../data/page-store.ts";
import { deviceNameById, formatCount } from "../data/shown-names.ts";
import { DEFAULT_STATE } from "../data/view-state.ts";
import { Button, LazyDetails, StateLink } from "../elements/controls.tsx";
import { formatFullTime } from "../elements/format-time.ts";
import { EntityLink, PanelHeading, Rest, Time } from "../panel/parts.tsx";
import { groupProblems, type KindGroup, MORE_OF_KIND, type SeverityGroup } from "./problem-groups.ts";
import { isRead, type ShownProblems } from "./problem-store.ts";
import { goToProblem, problemDetail, problemName, problemView } from "./problem-target.ts";
import { KIND_SIGNS, ProblemSign, SEVERITY_SIGNS } from "./signs.tsx";
import { enterWall } from "./wall.tsx";

export function Problems() {
  const store = useStore();
  const { problems, wall } = store.state.value;
  const open = problems || wall;
  return (
    <aside class="problems" aria-label="Problems" hidden={!open}>
      {open && (
        <div class="panel-body">
          {wall ? (
            <header class="panel-head">
              <h2>Problems</h2>
            </header>
          ) : (
            <PanelHeading
              title="Problems"
              closeLabel="Close problems"
              onClose={() => store.go({ problems: false, problem: undefined })}
            >
              <Button label="Wall mode" icon="wall" onClick={() => enterWall(store)} />
            </PanelHeading>
          )}
          <ListState list={store.problems.shown.value} />
          {!wall && <ProblemFilters />}
          <ProblemGroups />
        </div>
      )}
    </aside>
  );
}

function ListState({ list: { state, receivedMs, reason } }: { readonly list: ShownProblems }) {
  const { at } = useStore().state.value;
  if (state === "loading") return <p class="muted">Loading…</p>;
  if (state === "waiting")
    return <p class="note">The past is played. The problems are loaded when the play pauses.</p>;
  if (state === "current")
    return at === undefined ? null : <p class="note">These were the problems at the time that is shown.</p>;
  const when = receivedMs === undefined ? "" : `This list is old, of ${formatFullTime(receivedMs)}. `;
  return <p class="note bad old-list">{`${when}The service cannot be read: ${reason}`}</p>;
}

function ProblemGroups() {
  const { state, problems } = useStore();
  const { acknowledged, sections, shown } = problems;
  const more = useSignal<ReadonlyMap<string, number>>(new Map());
  const list = useRef<HTMLDivElement>(null);
  /** The position in the list that gets the focus when the focused problem disappears. */
  const nextFocus = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const index = nextFocus.current;
    nextFocus.current = undefined;
    if (index === undefined || list.current?.contains(document.activeElement)) return;
    const links = linksIn(list.current);
    (links[Math.min(index, links.length - 1)] ?? list.current)?.focus();
  });
  // The wall has no filters to see or to change.
  const filter = state.value.wall ? DEFAULT_STATE : state.value;
  const groups = groupProblems(sections.value, filter, more.value);
  const acknowledge = (some: readonly NetworkProblem[], on: boolean) => {
    const item = document.activeElement?.closest(".problem, .severity");
    const link = item?.querySelector<HTMLElement>(".problem-link");
    nextFocus.current = link ? linksIn(list.current).indexOf(link) : undefined;
    acknowledged.set(some, on);
  };
  const showMore = ({ key }: KindGroup) => {
    more.value = new Map(more.value).set(key, (more.value.get(key) ?? 0) + MORE_OF_KIND);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move the focus between the links inside
    <div
      ref={list}
      tabIndex={-1}
      class="problem-groups"
      onKeyDown={(event) => moveFocus(event, list.current)}
    >
      {groups.length === 0 && isRead(shown.value) && <p class="muted">{noneText(shown.value)}</p>}
      {groups.map((group) => (
        <Severity key={group.severity} group={group} onAcknowledge={acknowledge} onMore={showMore} />
      ))}
    </div>
  );
}

const noneText = ({ problems }: ShownProblems): string =>
  problems.length === 0
    ? "No problems."
    : `None of ${formatCount(problems.length, "problem")} is to be shown: acknowledged, or of another severity.`;

interface SeverityProps {
  readonly group: SeverityGroup;
  readonly onAcknowledge: (problems: readonly NetworkProblem[], acknowledged: boolean) => void;
  readonly onMore: (group: KindGroup) => void;
}

function Severity({ group, onAcknowledge, onMore }: SeverityProps) {
  const { wall } = useStore().state.value;
  const { severity, problems, waiting, kinds } = group;
  const sign = SEVERITY_SIGNS[severity];
  return (
    <section class="severity" aria-label={sign.title}>
      <h3>
        <ProblemSign sign={sign} severity={severity} />
        {sign.title}
        <span class="count">{problems.length.toLocaleString("en")}</span>
        {waiting.length > 1 && !wall && (
          <Button
            label={`Acknowledge all ${waiting.length.toLocaleString("en")}`}
            onClick={() => onAcknowledge(waiting, true)}
          />
        )}
      </h3>
      <ol>
        {kinds.map((kind) => (
          <>
            {kind.shown.map((problem) => (
              <ProblemItem
                key={problem.id}
                problem={problem}
                onAcknowledge={(one, on) => onAcknowledge([one], on)}
              />
            ))}
            {kind.rest > 0 && (
              <li key={kind.key} class="more">
                {wall ? moreText(kind) : <Button label={moreText(kind)} onClick={() => onMore(kind)} />}
              </li>
            )}
          </>
        ))}
      </ol>
    </section>
  );
}

const moreText = ({ kind, rest }: KindGroup): string =>
  `${KIND_SIGNS[kind].title}: and ${rest.toLocaleString("en")} more`;

const linksIn = (list: HTMLElement | null): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>(".problem-link") ?? []),
];

function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const links = linksIn(list);
  const active = document.activeElement;
  const current = active instanceof HTMLElement ? links.indexOf(active) : -1;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: current + 1,
    ArrowUp: current - 1,
    Home: 0,
    End: links.length - 1,
  };
  const target = targets[event.key];
  if (current < 0 || target === undefined) return;
  event.preventDefault();
  links[target]?.focus();
}

/** The buttons that choose the problems of the list: by severity, and with or without acknowledged ones. */
function ProblemFilters() {
  const { state, go, problems } = useStore();
  const { severities, acknowledged } = state.value;
  const list = problems.shown.value;
  const sections = problems.sections.value;
  // Before the list is read there is no number, because a zero would mean that there are no problems.
  const countText = (count: number) => (isRead(list) ? count.toLocaleString("en") : "–");
  const acknowledgedCount = Object.values(sections).reduce(
    (sum, { all, waiting }) => sum + all.length - waiting.length,
    0,
  );
  const toggle = (severity: ProblemSeverity) =>
    go({
      severities: PROBLEM_SEVERITIES.filter((one) => severities.includes(one) !== (one === severity)),
    });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls, and these are buttons
    <div class="problem-filters" role="group" aria-label="Which problems are shown">
      {PROBLEM_SEVERITIES.map((severity) => (
        <Button key={severity} pressed={severities.includes(severity)} onClick={() => toggle(severity)}>
          <ProblemSign sign={SEVERITY_SIGNS[severity]} severity={severity} />
          {SEVERITY_SIGNS[severity].title}
          <span class="count">{countText(sections[severity][acknowledged ? "all" : "waiting"].length)}</span>
        </Button>
      ))}
      <Button pressed={acknowledged} onClick={() => go({ acknowledged: !acknowledged })}>
        With acknowledged
        <span class="count">{countText(acknowledgedCount)}</span>
      </Button>
    </div>
  );
}

/** Maximum number of problems that are listed below their cause. */
const MAX_FOLLOWERS = 100;

interface ProblemItemProps {
  readonly problem: NetworkProblem;
  readonly onAcknowledge: (problem: NetworkProblem, acknowledged: boolean) => void;
}

/** One problem of the list in three lines: kind and name, what it cuts off, and since when. */
function ProblemItem({ problem, onAcknowledge }: ProblemItemProps) {
  const store = useStore();
  const { state, problems } = store;
  const sign = KIND_SIGNS[problem.kind];
  const name = problemName(useNetwork(), problem);
  const isAcknowledged = problems.acknowledged.has(problem);
  const word = isAcknowledged ? "Acknowledged" : "Acknowledge";
  return (
    <li class={isAcknowledged ? "problem acknowledged" : "problem"}>
      <ProblemSign sign={sign} severity={problem.severity} />
      <div class="problem-body">
        <StateLink
          class="problem-link"
          to={problemView(problem)}
          aria-current={state.value.problem === problem.id ? "true" : undefined}
          onFollow={() => goToProblem(store, problem)}
        >
          <span class="problem-kind">{sign.title}</span> <strong>{name}</strong>
        </StateLink>
        <Effects problem={problem} onAcknowledge={onAcknowledge} />
        <div class="problem-foot">
          <p class="muted">
            Since <Time timestamp={problem.since} />
          </p>
          {!state.value.wall && (
            <Button
              class="acknowledge"
              pressed={isAcknowledged}
              label={`${word}: ${sign.title} ${name}`}
              onClick={() => onAcknowledge(problem, !isAcknowledged)}
            >
              {word}
            </Button>
          )}
        </div>
      </div>
    </li>
  );
}

/** What a problem cuts off, and what follows from it: one line that opens the devices and the other problems. */
function Effects({ problem, onAcknowledge }: ProblemItemProps) {
  const { state, problems } = useStore();
  const { cutOff } = problem;
  const followers = problems.followers.value.get(problem.id) ?? [];
  const parts = [
    cutOff.deviceCount > 0 &&
      `Cuts off ${formatCount(cutOff.deviceCount, "device")}, ${formatCount(cutOff.hostCount, "host")}`,
    followers.length > 0 && formatCount(followers.length, "problem follows", "problems follow"),
  ].filter(Boolean);
  const line = parts.join("; ");
  if (line === "") return <p class="problem-text">{problemDetail(problem) || "Cuts off nothing"}</p>;
  if (state.value.wall) return <p class="problem-text">{line}</p>;
  return (
    // The content is rendered only when it is opened, because it may have hundreds of items.
    <LazyDetails class="effects" summary={line}>
      {() => (
        <>
          <CutOffList cutOff={cutOff} />
          <ol>
            {followers.slice(0, MAX_FOLLOWERS).map((follower) => (
              <ProblemItem key={follower.id} problem={follower} onAcknowledge={onAcknowledge} />
            ))}
          </ol>
          <Rest count={followers.length - MAX_FOLLOWERS} />
        </>
      )}
    </LazyDetails>
  );
}

/** The devices that a problem cuts off, by name. */
function CutOffList({ cutOff: { devices, deviceCount } }: { readonly cutOff: CutOff }) {
  const network = useNetwork();
  return (
    <>
      <ul>
        {devices.map((id) => (
          <li key={id}>
            <EntityLink to={{ kind: "devices", id }}>{network ? deviceNameById(network, id) : id}</EntityLink>
          </li>
        ))}
      </ul>
      <Rest count={deviceCount - devices.length} />
    </>
  );
}
