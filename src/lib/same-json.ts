/**
 * Whether two values are equal as JSON: the order of fields does not matter, and an undefined field counts as absent. This
 * is written in JavaScript, because most compared values are small, and calling the runtime's native comparison costs more
 * than the comparison itself.
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
  let difference = 0;
  for (const field in a) {
    const value = a[field];
    if (value === undefined) continue;
    if (!sameJson(value, b[field])) return false;
    difference++;
  }
  for (const field in b) if (b[field] !== undefined) difference--;
  return difference === 0;
}
