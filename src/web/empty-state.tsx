/** The page when there is nothing to show: loading, refused, or no device yet, each with what to do. */
import { h, replace } from "./dom.ts";
import type { Model, Part } from "./store.ts";

const EXAMPLE = `sources:
  - type: file
    name: racks
    path: network.yaml
  - type: openflow
    name: switches
    listen: 0.0.0.0:6653`;

/** Undefined: there is something to show. */
type Emptiness =
  | { readonly why: "reading" | "nothing-then" }
  | { readonly why: "refused" | "no-connection"; readonly reason: string }
  | { readonly why: "nothing-yet"; readonly sources: readonly string[] };

function emptiness({ network, state, problem, loading, connection, health }: Model): Emptiness | undefined {
  if (problem !== undefined) return { why: "refused", reason: problem };
  if (network === undefined) {
    const lost = connection.state === "reconnecting";
    return lost ? { why: "no-connection", reason: connection.reason } : { why: "reading" };
  }
  if (network.devices.size > 0 || state.view !== "map" || loading) return undefined;
  if (state.at !== undefined) return { why: "nothing-then" };
  const sources = health?.sources.map(
    ({ name, kind, error, status }) => `${name} (${kind}): ${error ?? status}`,
  );
  return { why: "nothing-yet", sources: sources ?? [] };
}

export function createEmptyState(): Part {
  const element = h("div", { class: "empty", role: "status" });
  let drawn = "";
  return {
    element,
    update(model) {
      const empty = emptiness(model);
      element.hidden = empty === undefined;
      element.classList.toggle("over", empty?.why === "refused" && model.network !== undefined);
      const key = JSON.stringify(empty);
      if (key === drawn || !empty) return;
      drawn = key;
      replace(element, words(empty));
    },
  };
}

function words(empty: Emptiness): Node[] {
  switch (empty.why) {
    case "reading":
      return [h("p", { class: "quiet" }, "Reading the network…")];
    case "refused":
      return [h("h2", {}, "That cannot be shown"), h("p", {}, empty.reason)];
    case "no-connection":
      return [
        h("h2", {}, "No connection to the service"),
        h("p", {}, empty.reason),
        h("p", {}, "This page tries again by itself."),
      ];
    case "nothing-then":
      return [
        h("h2", {}, "There was nothing then"),
        h(
          "p",
          {},
          "No device was known at that moment. The time line shows since when anything is remembered.",
        ),
      ];
    case "nothing-yet":
      return [nothingYet(empty.sources)];
  }
}

function nothingYet(sources: readonly string[]): HTMLElement {
  return h(
    "div",
    {},
    h("h2", {}, "No devices yet"),
    sources.length > 0 && h("p", {}, "These sources are connected, and none has told of a device:"),
    sources.length > 0 &&
      h(
        "ul",
        {},
        sources.map((source) => h("li", {}, source)),
      ),
    h("p", {}, "A source tells the service what exists. Name one in the configuration, for example:"),
    h("pre", { tabindex: 0 }, h("code", {}, EXAMPLE)),
    h("p", {}, "or look around in a simulated network: ", h("code", {}, "gazetteer serve --demo")),
    h("p", { class: "muted" }, "The map fills as soon as the first device is there; no reload is needed."),
  );
}
