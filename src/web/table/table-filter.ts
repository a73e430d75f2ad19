/**
 * The grammar of the filter box: parameters of the API such as `type=SWITCH,ROUTER available=false`, with values that
 * contain spaces in quotes. Words without a name are joined as the parameter `q`. The service validates the parameters.
 */
const TOKEN = /(?:([\w.]+)=)?(?:"([^"]*)"?|(\S+))/g;

export function parseFilter(text: string): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  const words: string[] = [];
  for (const [, name, quoted, plain] of text.matchAll(TOKEN)) {
    const value = quoted ?? plain ?? "";
    if (name === undefined) words.push(value);
    else pairs.push([name, value]);
  }
  if (words.length > 0) pairs.push(["q", words.join(" ")]);
  return pairs;
}

/** The text of a filter with one parameter. */
export const filterText = (name: string, value: string): string =>
  /[\s"]/.test(value) ? `${name}="${value.replaceAll('"', "")}"` : `${name}=${value}`;

/** The text of a filter that finds what the search box finds for a text. */
export const searchFilter = (text: string): string => (/[="]/.test(text) ? filterText("q", text) : text);

/** The inverse of `parseFilter`. */
export const formatFilter = (pairs: readonly (readonly [name: string, value: string])[]): string =>
  pairs.map(([name, value]) => (name === "q" ? value : filterText(name, value))).join(" ");
