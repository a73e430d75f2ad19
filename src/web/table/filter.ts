/**
 * What a person types over a table: the interface's own parameters, `type=SWITCH,ROUTER available=false`, values with
 * spaces in quotes, and words without a name as `q`. The service judges them; its answer is shown as it is.
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

/** As a person would type it. */
export const filterText = (name: string, value: string): string =>
  /[\s"]/.test(value) ? `${name}="${value.replaceAll('"', "")}"` : `${name}=${value}`;
