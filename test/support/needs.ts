/**
 * Skips tests whose external programs are not installed: `test.skipIf(!needs("ovs-vsctl", "mn"))(…)`. A missing program
 * prints a SKIP line, and is an error when CI=true.
 */
export function needs(...commands: string[]): boolean {
  const missing = commands.filter((command) => Bun.which(command, { PATH: searchPath() }) === null);
  if (missing.length === 0) return true;
  const message = `SKIP: ${missing.join(", ")} not on the PATH; npm test installs what it can as root`;
  if (process.env.CI === "true") throw new Error(message);
  console.error(`\n${"!".repeat(78)}\n${message}\n${"!".repeat(78)}`);
  return false;
}

/** Network tools are in the sbin folders, which are not on every user's PATH. */
function searchPath(): string {
  return `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
}
