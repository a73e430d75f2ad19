/** Compares the names of devices, which are written with and without their domain. */
export const firstLabel = (name: string): string => name.split(".", 1)[0] ?? name;

/** Equal without regard to case; a name without a domain equals the one with it. */
export function isSameName(a: string, b: string): boolean {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x === "" || y === "") return false;
  if (x === y) return true;
  return x.includes(".") !== y.includes(".") && firstLabel(x) === firstLabel(y);
}
