/** What the panels are made of: facts, lists of things that can be clicked, badges. */
import type { Annotations } from "../../model/entity.ts";
import { h } from "../dom.ts";
import { formatFullTime, formatShortTime } from "../format-time.ts";
import { type EntityRef, formatState, type ViewState } from "../state.ts";
import type { Actions } from "../store.ts";

export interface PanelContext {
  readonly actions: Actions;
  readonly state: ViewState;
}

/** Goes to a thing. A real link, so that it can be opened beside this page. */
export function thing({ actions, state }: PanelContext, ref: EntityRef, words: string): HTMLElement {
  return h(
    "a",
    {
      class: "thing",
      href: formatState({ ...state, selected: ref }),
      "data-focus": `${ref.kind}:${ref.id}`,
      onclick: (event: MouseEvent) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        actions.pick(ref);
      },
    },
    words,
  );
}

export type Fact = readonly [name: string, value: string | Node | undefined];

/** Empty and unknown facts are left out: a panel of dashes helps nobody. */
export function facts(list: readonly Fact[]): HTMLElement {
  const known = list.filter(([, value]) => value !== undefined && value !== "" && value !== "unknown");
  return h(
    "dl",
    { class: "facts" },
    known.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

const SAID_ELSEWHERE = ["name", "conflict", "managementAddress", "channelId", "protocol"];

export function annotationFacts(annotations: Annotations | undefined): Fact[] {
  return Object.entries(annotations ?? {}).filter(([name]) => !SAID_ELSEWHERE.includes(name));
}

export function section(title: string, ...children: (Node | false | undefined)[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), ...children);
}

export function badge(words: string, tone: "good" | "bad" | "doubt" | "plain" = "plain"): HTMLElement {
  return h("span", { class: `state ${tone}` }, words);
}

export function conflictNote(annotations: Annotations | undefined): HTMLElement | undefined {
  const conflict = annotations?.conflict;
  return conflict ? h("p", { class: "note doubt" }, `Conflicting claims: ${conflict}`) : undefined;
}

export function moment(rfc3339: string): HTMLElement {
  const ms = Date.parse(rfc3339);
  return h("time", { datetime: rfc3339, title: formatFullTime(ms) }, formatShortTime(ms));
}

/** Beyond this a list is cut, and says so: the tables have the rest. */
export const MAX_LISTED = 60;
