/** What is known of releases of nats-server: docs/cluster.md, "Losses that are the engine's own". */

/** The newest release with which losses were seen, and none with the current one. */
const NEWEST_LOSSY = [2, 9] as const;

/** Whether several servers of this version, as `2.9.10`, were seen to lose what they had delivered, when some of them fail. */
export function losesMessages(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  return major < NEWEST_LOSSY[0] || (major === NEWEST_LOSSY[0] && minor <= NEWEST_LOSSY[1]);
}
