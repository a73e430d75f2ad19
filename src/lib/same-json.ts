/**
 * Whether two values say the same as JSON: fields in whatever order, and one that is undefined is not there. In the
 * language itself, because the values compared by the million are small, and the way into the runtime's own comparison
 * costs more than comparing them.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  return isObject(a) && isObject(b) && sameFields(a, b);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!sameJson(a[i], b[i])) return false;
  return true;
}

function sameFields(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let more = 0;
  for (const field in a) {
    const value = a[field];
    if (value === undefined) continue;
    if (!sameJson(value, b[field])) return false;
    more++;
  }
  for (const field in b) if (b[field] !== undefined) more--;
  return more === 0;
}
