/** The page when there is nothing to show: loading, refused, or no device yet, each with what to do. */
import { h, replace } from "./dom.ts";
import type { Model, Part } from "./model.ts";

const EXAMPLE = `sources:
  - type: file
    name: racks
    path: network.yaml
  - type: openflow
    name: switches
    listen: 0.0.0.0:6653`;

export function createEmptyState(): Part {
  const element = h("div", { class: "empty", role: "status" });
  let drawn = "";
  return {
    element,
    update({ network, state, problem, loading, connection, health }: Model) {
      const isEmpty = network !== undefined && network.devices.size === 0 && state.view === "map" && !loading;
      const failed = problem !== undefined;
      const lost = connection.state === "reconnecting" && network === undefined;
      element.hidden = !(network === undefined || isEmpty || failed);
      element.classList.toggle("over", failed && network !== undefined);
      const key = JSON.stringify([
        network === undefined,
        isEmpty,
        problem,
        lost,
        connection,
        health?.sources,
      ]);
      if (key === drawn || element.hidden) return;
      drawn = key;
      if (failed) replace(element, h("h2", {}, "That cannot be shown"), h("p", {}, problem));
      else if (lost && connection.state === "reconnecting") {
        replace(
          element,
          h("h2", {}, "No connection to the service"),
          h("p", {}, connection.reason),
          h("p", {}, "This page tries again by itself."),
        );
      } else if (isEmpty)
        replace(
          element,
          state.at !== undefined
            ? nothingThen()
            : nothingYet(
                health?.sources.map(
                  (source) => `${source.name} (${source.kind}): ${source.error ?? source.status}`,
                ) ?? [],
              ),
        );
      else replace(element, h("p", { class: "quiet" }, "Reading the network…"));
    },
  };
}

function nothingThen(): HTMLElement {
  return h(
    "div",
    {},
    h("h2", {}, "There was nothing then"),
    h("p", {}, "No device was known at that moment. The time line shows since when anything is remembered."),
  );
}

function nothingYet(sources: readonly string[]): HTMLElement {
  return h(
    "div",
    {},
    h("h2", {}, "No devices yet"),
    sources.length > 0 &&
      h(
        "div",
        {},
        h("p", {}, "These sources are connected, and none has told of a device:"),
        h(
          "ul",
          {},
          sources.map((source) => h("li", {}, source)),
        ),
      ),
    h("p", {}, "A source tells the service what exists. Name one in the configuration, for example:"),
    h("pre", {}, h("code", {}, EXAMPLE)),
    h("p", {}, "or look around in a simulated network: ", h("code", {}, "gazetteer serve --demo")),
    h("p", { class: "muted" }, "The map fills as soon as the first device is there; no reload is needed."),
  );
}
