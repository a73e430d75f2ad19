/** The environment variables with these names that are set. A child process gets no others, which may be secrets. */
export function inheritedEnvironment(names: readonly string[]): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined) inherited[name] = value;
  }
  return inherited;
}
