/**
 * The card beside the pointer with the five facts that matter about what is under it. Screen readers and the keyboard get
 * the same facts from the panel and the tables, so the card is hidden from them.
 */
import type { ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import type { NetworkProblem } from "../../model/network-problem.ts";
import { usePlannedNetwork, useStore } from "../data/page-store.ts";
import { hoverFacts } from "./hover-facts.ts";
import type { Hovered } from "./interaction.ts";
import type { NetworkMap } from "./map.ts";

/** The distance from the pointer, and the space that the card needs. */
const OFFSET_PX = 14;
const WIDTH_PX = 300;
const HEIGHT_PX = 160;

interface HoverCardProps {
  readonly hovered: ReadonlySignal<Hovered | undefined>;
  readonly map: RefObject<NetworkMap | null>;
  readonly element: RefObject<HTMLElement | null>;
}

export function HoverCard({ hovered, map, element }: HoverCardProps) {
  const { problems, pastMs } = useStore();
  const network = usePlannedNetwork();
  const target = hovered.value && withCurrentProblem(hovered.value, problems.lost.value);
  const ports = map.current?.ports;
  const now = pastMs.value ?? Date.now();
  const content = target && network && ports ? hoverFacts(target, network, ports, now) : undefined;
  if (!target || !content) return null;
  const { clientWidth = 0, clientHeight = 0 } = element.current ?? {};
  const left =
    target.x + OFFSET_PX + WIDTH_PX > clientWidth ? target.x - OFFSET_PX - WIDTH_PX : target.x + OFFSET_PX;
  const top = target.y + OFFSET_PX + HEIGHT_PX > clientHeight ? target.y - HEIGHT_PX : target.y + OFFSET_PX;
  return (
    <div
      class="hover-card"
      aria-hidden="true"
      data-kind={target.ref.kind}
      ref={(card) => {
        // The content security policy forbids style attributes in markup, not the properties.
        if (card) Object.assign(card.style, { left: `${Math.max(0, left)}px`, top: `${Math.max(0, top)}px` });
      }}
    >
      <strong>{content.title}</strong>
      <dl>
        {content.facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The problem of a lost link may change while the pointer rests on its line. */
function withCurrentProblem(target: Hovered, problems: readonly NetworkProblem[]): Hovered {
  const { lost } = target;
  const problem = lost && problems.find(({ id }) => id === lost.problem.id);
  return problem ? { ...target, lost: { ...lost, problem } } : target;
}
