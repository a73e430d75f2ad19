/**
 * The panel on the right: the thing that was clicked, and lists beside the map. Redrawn only when what it shows has
 * changed, and then without moving what is being read: scroll and focus stay.
 */
import type { DeviceWithPorts } from "../../client/client.ts";
import { cableId } from "../../model/cable.ts";
import { refName } from "../bar/chips.tsx";
import { copyText } from "../bar/export-menu.tsx";
import { curlLine } from "../curl.ts";
import { button, h, replace } from "../dom.ts";
import { icon } from "../icon.tsx";
import type { NetworkChange } from "../live.ts";
import type { Network } from "../network.ts";
import type { EntityRef } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";
import { comparisonList, recentList, wayList } from "./change-list.tsx";
import { devicePanel, portsTable } from "./device.tsx";
import { type PanelContext, section } from "./elements.tsx";
import { historyList, loadHistory } from "./entity-history.tsx";
import { hostPanel, hostPort, linkPanel } from "./link.tsx";
import { createLazy } from "./use-loaded.ts";

export function createPanel(actions: Actions): Part {
  const body = h("div", { class: "panel-body" });
  const element = h("aside", { class: "panel", "aria-label": "Details", hidden: true }, body);
  const ports = createLazy<DeviceWithPorts>();
  const history = createLazy<NetworkChange[]>();
  let drawn = "";

  function details(model: Model, network: Network, ref: EntityRef): Node[] {
    const context: PanelContext = { actions, state: model.state };
    const entity = network[ref.kind].get(ref.id);
    const head = heading(refName(network, ref), [
      button(
        "Copy as curl",
        () =>
          void copyText(
            curlLine(location.origin, itemPath(ref, model.state.at)),
            actions,
            "the request as curl",
          ),
        { icon: icon("copy") },
      ),
      button("Close details", () => actions.go({ selected: undefined }), { icon: icon("close") }),
    ]);
    if (!entity && ref.kind === "hosts" && !network.hostsLoaded)
      return [head, h("p", { class: "muted" }, "Loading…")];
    if (!entity) {
      return [
        head,
        h(
          "p",
          { class: "note" },
          "This is not in the network shown. It may be gone, or not have been there yet: the time line goes back.",
        ),
      ];
    }
    const past = history.show(
      `${ref.kind} ${ref.id}`,
      String(entity.revision),
      (signal) => loadHistory(actions.client, ref, entity, signal),
      (changes) => historyList(context, network, changes),
    );
    const portsOf = (device: string, draw: (answer: DeviceWithPorts) => Node) =>
      ports.show(
        device,
        `${network.devices.get(device)?.revision} ${model.state.at}`,
        (signal) =>
          actions.client.ports(device, model.state.at === undefined ? {} : { at: model.state.at }, {
            signal,
          }),
        draw,
      );
    const device = ref.kind === "devices" ? network.devices.get(ref.id) : undefined;
    const link = ref.kind === "links" ? network.links.get(ref.id) : undefined;
    const host = ref.kind === "hosts" ? network.hosts.get(ref.id) : undefined;
    if (device) {
      const table = portsOf(device.id, (answer) => portsTable(context, network, answer));
      return [head, ...devicePanel(context, network, device, table, past)];
    }
    if (link) return [head, ...linkPanel(context, network, link, past)];
    if (!host) return [head];
    const port = portsOf(host.location.elementId, (answer) => hostPort(host, answer));
    return [head, ...hostPanel(context, network, host, port, past)];
  }

  function draw(model: Model, network: Network): void {
    const context: PanelContext = { actions, state: model.state };
    const { selected, path, compare, changes } = model.state;
    const focused = body.contains(document.activeElement)
      ? document.activeElement?.getAttribute("data-focus")
      : null;
    const scrolled = body.scrollTop;
    replace(
      body,
      path && [
        heading("Path", [
          button("Close path", () => actions.go({ path: undefined }), { icon: icon("close") }),
        ]),
        wayList(context, network, path),
      ],
      selected && details(model, network, selected),
      compare !== undefined &&
        model.comparison &&
        section("What differs", comparisonList(context, model.comparison)),
      changes && [
        heading("Recent changes", [
          button("Close recent changes", () => actions.go({ changes: false }), { icon: icon("close") }),
        ]),
        recentList(context, network, model.recent),
      ],
    );
    body.scrollTop = scrolled;
    if (focused) body.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  return {
    element,
    update(model) {
      const { network, state } = model;
      const { selected, path, compare, changes } = state;
      const open =
        selected !== undefined ||
        path !== undefined ||
        changes ||
        (compare !== undefined && model.comparison !== undefined);
      element.hidden = !open || !network;
      if (!open || !network) {
        drawn = "";
        return;
      }
      const key = JSON.stringify([
        selected,
        path,
        compare,
        changes,
        state.at,
        state.around,
        state.expanded,
        model.comparison?.from,
        selected && contentKey(network, selected),
        path && network.version,
        changes && model.recent[0]?.revision,
      ]);
      if (key === drawn) return;
      const another = !drawn.startsWith(key.slice(0, key.indexOf("]")));
      drawn = key;
      draw(model, network);
      if (another && selected) body.scrollTop = 0;
    },
  };
}

function heading(title: string, buttons: readonly HTMLElement[]): HTMLElement {
  return h(
    "header",
    { class: "panel-head" },
    h("h2", {}, title),
    h("span", { class: "panel-buttons" }, buttons),
  );
}

/** Changes exactly when the panel of this thing would look different. */
function contentKey(network: Network, { kind, id }: EntityRef): unknown {
  const own = network[kind].get(id)?.revision;
  if (kind === "links") {
    const link = network.links.get(id);
    return link && network.cables.get(cableId(link))?.links.map((one) => one.revision);
  }
  if (kind === "hosts") return [own, network.hostsLoaded];
  const cables = network.cablesOf(id).flatMap((cable) => cable.links.map((link) => link.revision));
  return [own, cables, network.hostsOf(id).map((host) => host.revision), network.hostsLoaded];
}

function itemPath({ kind, id }: EntityRef, at: string | undefined): string {
  const when = at === undefined ? "" : `at=${at}`;
  if (kind === "devices")
    return `/controller/v1/devices/${encodeURIComponent(id)}/ports${when && `?${when}`}`;
  if (kind === "hosts") return `/controller/v1/hosts/${encodeURIComponent(id)}${when && `?${when}`}`;
  return `/controller/v1/links?id=${encodeURIComponent(id)}${when && `&${when}`}`;
}
