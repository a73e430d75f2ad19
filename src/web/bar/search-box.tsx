/** The search box: what matches drops down as one types; arrows and Enter choose, Escape leaves, `/` comes back. */
import { h, replace } from "../dom.ts";
import { icon } from "../icon.tsx";
import { formatCount } from "../names.ts";
import type { Network } from "../network.ts";
import { type SearchHit, type SearchResult, searchNetwork } from "../search.ts";
import { isSameEntity } from "../state.ts";
import type { Actions, Model, Part } from "../store.ts";

const MAX_SHOWN = 12;

export function createSearchBox(actions: Actions): Part {
  let network: Network | undefined;
  let found: SearchResult = { hits: [], total: 0 };
  let active = 0;
  /** The version of the network in which `found` was found, and whether that network was loaded completely. */
  let [version, whole] = [-1, false];
  const input = h("input", {
    type: "search",
    class: "search-input",
    placeholder: "Find a name, id, MAC, IP or block",
    "aria-label": "Find a device or host by name, id, MAC, IP or CIDR block",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "search-hits",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => search(),
    onfocus: () => search(),
    onblur: () => close(),
    onkeydown: (event: KeyboardEvent) => onKey(event),
  });
  const list = h("ul", {
    id: "search-hits",
    role: "listbox",
    class: "search-hits",
    "aria-label": "Found",
    hidden: true,
  });
  const count = h("div", { class: "search-count", role: "status" });
  const element = h(
    "div",
    { class: "search", role: "search" },
    icon("search"),
    input,
    h("kbd", { class: "search-key", "aria-hidden": "true" }, "/"),
    list,
    count,
  );

  function search(): void {
    found = network ? searchNetwork(network, input.value, MAX_SHOWN) : { hits: [], total: 0 };
    [version, whole] = [network?.version ?? -1, network?.hostsLoaded ?? false];
    active = 0;
    draw();
  }

  /** What was found while the network was still being loaded is not everything: search again as it arrives. */
  function searchAgain(): void {
    if (list.hidden || whole || version === network?.version) return;
    const chosen = found.hits[active]?.ref;
    search();
    active = Math.max(0, chosen ? found.hits.findIndex(({ ref }) => isSameEntity(ref, chosen)) : 0);
    draw();
  }

  function draw(): void {
    const open = input.value.trim() !== "" && document.activeElement === input;
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open && found.hits.length > 0));
    count.textContent = open ? summary(found, whole) : "";
    const items = found.hits.map((hit, i) => item(hit, i));
    const more = found.total - found.hits.length;
    if (more > 0)
      items.push(
        h("li", { class: "search-more", role: "presentation" }, `and ${formatCount(more, "other")}`),
      );
    if (found.total === 0)
      items.push(h("li", { class: "search-more", role: "presentation" }, summary(found, whole)));
    replace(list, items);
    const chosen = found.hits[active];
    if (open && chosen) input.setAttribute("aria-activedescendant", `hit-${active}`);
    else input.removeAttribute("aria-activedescendant");
  }

  function item(hit: SearchHit, i: number): HTMLLIElement {
    return h(
      "li",
      {
        id: `hit-${i}`,
        role: "option",
        "aria-selected": String(i === active),
        class: `search-hit ${hit.ref.kind}`,
        // Before blur, which would take the list away from under the pointer.
        onmousedown: (event: MouseEvent) => {
          event.preventDefault();
          choose(hit);
        },
      },
      h("span", { class: "hit-title" }, hit.title),
      h("span", { class: "hit-detail" }, hit.detail),
    );
  }

  function choose(hit: SearchHit): void {
    input.value = "";
    input.blur();
    actions.pick(hit.ref);
  }

  function close(): void {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    count.textContent = "";
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      active = (active + step + found.hits.length) % Math.max(1, found.hits.length);
      draw();
    } else if (event.key === "Enter") {
      const hit = found.hits[active];
      if (hit) choose(hit);
    } else if (event.key === "Escape") {
      if (input.value === "") input.blur();
      input.value = "";
      search();
    }
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  return {
    element,
    update(model: Model) {
      network = model.network;
      searchAgain();
    },
  };
}

function summary({ total }: SearchResult, whole: boolean): string {
  if (total === 0) return whole ? "Nothing found" : "Loading…";
  return `${formatCount(total, "match", "matches")}${whole ? "" : ", loading…"}`;
}
