/**
 * Skips tests whose external programs are not installed: `test.skipIf(!needs("ovs-vsctl", "mn"))(…)`. A missing program
 * prints a SKIP line, and is an error when CI=true.
 */
export function needs(...commands: string[]): boolean {
  const missing = commands.filter((command) => Bun.which(command, { PATH: searchPath() }) === null);
  if (missing.length === 0) return true;
  reportMissing(`${missing.join(", ")} not on the PATH; npm test installs what it can as root`);
  return false;
}

/** Prints why tests are skipped, where CI=true does not forbid it. */
export function reportMissing(reason: string): void {
  if (process.env.CI === "true") throw new Error(`SKIP: ${reason}`);
  printSkip(reason);
}

export function printSkip(reason: string): void {
  console.error(`\n${"!".repeat(78)}\nSKIP: ${reason}\n${"!".repeat(78)}`);
}

/** Network tools are in the sbin folders, which are not on every user's PATH. */
function searchPath(): string {
  return `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
}
