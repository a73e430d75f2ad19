/**
 * The search of the documentation, which runs in the browser: lists the parts of pages that have all words of the
 * search field. Without it the pages work, and show no search field. The index is loaded when the field is first
 * used.
 */

/** A part of a page, as load-docs.ts writes it; `heading` is empty for the beginning of a page. */
type Part = readonly [address: string, title: string, heading: string, text: string];

const MAX_RESULTS = 20;
const EXCERPT_LENGTH = 140;

function find<E extends Element>(selector: string, type: new () => E): E {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`);
  return element;
}

const form = find("#search", HTMLFormElement);
const field = find("#search input", HTMLInputElement);
const status = find("#search output", HTMLOutputElement);
const list = find("#search ul", HTMLUListElement);

let index: Promise<readonly Part[]> | undefined;

function loadIndex(): Promise<readonly Part[]> {
  index ??= fetch("/docs/search-pages.json").then((response) => {
    if (!response.ok) throw new Error(`the index cannot be read: ${response.status}`);
    return response.json();
  });
  return index;
}

/** A word in a title or heading counts more than one in the text; 0 if a word is nowhere. */
function score([, title, heading, text]: Part, words: readonly string[]): number {
  const [inTitle, inHeading, inText] = [title, heading, text].map((part) => part.toLowerCase());
  let sum = 0;
  for (const word of words) {
    const points =
      (heading === "" && inTitle?.includes(word) ? 8 : 0) +
      (inHeading?.includes(word) ? 6 : 0) +
      (inTitle?.includes(word) ? 2 : 0) +
      (inText?.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

/** The text around the first word that is in it, or its beginning. */
function excerpt(text: string, words: readonly string[]): string {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const from = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - EXCERPT_LENGTH / 2);
  const to = from + EXCERPT_LENGTH;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

function renderResult([address, title, heading, text]: Part, words: readonly string[]): HTMLElement {
  const link = document.createElement("a");
  link.href = address;
  link.textContent = heading === "" ? title : `${title}: ${heading}`;
  const detail = document.createElement("span");
  detail.textContent = excerpt(text, words);
  const item = document.createElement("li");
  item.append(link, detail);
  return item;
}

async function search(): Promise<void> {
  const query = field.value;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const parts = words.length === 0 ? [] : await loadIndex();
  if (query !== field.value) return; // A later call shows what the field has now.
  const found = parts
    .map((part) => ({ part, points: score(part, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points);
  list.replaceChildren(...found.slice(0, MAX_RESULTS).map(({ part }) => renderResult(part, words)));
  const best = found.length > MAX_RESULTS ? `; these are the best ${MAX_RESULTS}` : "";
  status.value = words.length === 0 ? "" : `Found ${found.length}${best}`;
}

const run = () =>
  search().catch((error) => {
    index = undefined; // The next search loads it again.
    status.value = String(error);
  });

function clear(): void {
  field.value = "";
  run();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Escape") clear();
});
field.addEventListener("input", run);
// A result on the page that is shown does not load the page again.
list.addEventListener("click", clear);
form.hidden = false;

// A module, so that its names are its own.
export {};
