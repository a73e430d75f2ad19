/** The four views. Links, so that each can be opened beside the other, and the current one says so. */
import { h, replace } from "../dom.ts";
import { formatState, VIEWS, type View, type ViewState } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";

const WORDS: Readonly<Record<View, string>> = {
  map: "Map",
  devices: "Devices",
  links: "Links",
  hosts: "Hosts",
};

export function createTabs(actions: Actions): Part {
  const element = h("nav", { class: "tabs", "aria-label": "Views" });
  let drawn = "";
  return {
    element,
    update({ state, network }: Model) {
      const counts: Readonly<Record<View, number | undefined>> = {
        map: undefined,
        devices: network?.devices.size,
        links: network?.links.size,
        hosts: network?.hostsLoaded ? network.hosts.size : undefined,
      };
      const key = JSON.stringify([state, counts]);
      if (key === drawn) return;
      drawn = key;
      const focused = element.contains(document.activeElement)
        ? document.activeElement?.getAttribute("data-view")
        : null;
      replace(
        element,
        VIEWS.map((view) => {
          const patch: Partial<ViewState> = { view, filter: "", sort: "" };
          return h(
            "a",
            {
              href: formatState({ ...state, ...patch }),
              "data-view": view,
              "aria-current": view === state.view ? "page" : undefined,
              onclick: (event: MouseEvent) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                if (view !== state.view) actions.go(patch);
              },
            },
            WORDS[view],
            counts[view] !== undefined && h("span", { class: "count" }, counts[view].toLocaleString("en")),
          );
        }),
      );
      if (focused) element.querySelector<HTMLElement>(`[data-view=${focused}]`)?.focus();
    },
  };
}
