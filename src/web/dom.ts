/**
 * The only way the page makes elements. Text goes in as text nodes and attributes as attributes, so what a device
 * calls itself can never become markup; there is no door for a string of HTML.
 */
type Child = Node | string | number | undefined | null | false;
type Value = string | number | boolean | undefined | ((event: never) => void);

const SVG = "http://www.w3.org/2000/svg";

/** `onclick`-like keys become listeners; `true` an empty attribute; `false` and `undefined` no attribute. */
function dress(element: Element, attributes: Readonly<Record<string, Value>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), (event) => Reflect.apply(value, element, [event]));
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function fill(element: Element, children: readonly (Child | readonly Child[])[]): void {
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: (Child | readonly Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, attributes);
  fill(element, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes);
  element.append(...children);
  return element;
}

export function replace(parent: Element, ...children: (Child | readonly Child[])[]): void {
  parent.replaceChildren();
  fill(parent, children);
}

/** A button that says what it does to everybody: the words are its label, its tooltip and, without an icon, its face. */
export function button(
  words: string,
  onclick: (event: MouseEvent) => void,
  options: { readonly icon?: SVGElement; readonly class?: string; readonly pressed?: boolean } = {},
): HTMLButtonElement {
  const { icon, pressed } = options;
  return h(
    "button",
    {
      type: "button",
      class: options.class ?? (icon ? "icon-button" : "text-button"),
      "aria-label": icon ? words : undefined,
      title: icon ? words : undefined,
      "aria-pressed": pressed === undefined ? undefined : String(pressed),
      onclick,
    },
    icon ?? words,
  );
}
