/**
 * The suites of `npm test`: the type check, the lint, all unit tests, and one suite for each entry of test/ and of
 * test/sources/. The table says which of them run at the same time. A suite that is not in the table runs alone, which is
 * always safe.
 */
import { join } from "node:path";

interface Placement {
  readonly sideBySide: boolean;
  readonly reason: string;
}

/**
 * Two suites may run at the same time when they share nothing but the processor: each listens on ports that the system
 * chooses, writes only to temporary folders of its own, and no assertion depends on how fast it runs. They start in the
 * order of the table, long ones first.
 */
export const PLACEMENTS: Readonly<Record<string, Placement>> = {
  types: { sideBySide: true, reason: "only reads files" },
  lint: { sideBySide: true, reason: "only reads files" },
  "test/soak": { sideBySide: true, reason: "free ports; a temporary folder; bounds that count, not time" },
  "test/sources/snmp": {
    sideBySide: true,
    reason: "mostly waits for LLDP and for polls; free ports; network namespaces of its own",
  },
  "test/sources/controller": {
    sideBySide: true,
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/sources/contract": {
    sideBySide: true,
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/sources/merging": {
    sideBySide: true,
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/cluster": {
    sideBySide: true,
    reason: "mostly waits for leases to end; free ports; temporary folders; waits for conditions",
  },
  "test/client": { sideBySide: true, reason: "manual clocks; free ports; builds into a new folder of dist/" },
  "test/api": { sideBySide: true, reason: "manual clocks; free ports; waits for conditions" },
  "test/openapi": { sideBySide: true, reason: "reads openapi.json; a service on a free port" },
  "test/onos": { sideBySide: true, reason: "free ports; temporary folders; waits for conditions" },
  "test/cli": { sideBySide: true, reason: "free ports; temporary folders; waits for conditions" },
  "test/hostile": { sideBySide: true, reason: "free ports; temporary folders; asserts counts and order" },
  "test/sources/restconf": { sideBySide: true, reason: "free ports; waits for conditions" },
  "test/sources/http": { sideBySide: true, reason: "free ports; waits for conditions" },
  "test/http1": { sideBySide: true, reason: "manual clocks; free ports" },
  src: { sideBySide: true, reason: "manual clocks; temporary folders" },
  "test/formats": { sideBySide: true, reason: "pure renderers; files with random names" },
  "test/scripts": { sideBySide: true, reason: "runs the runner in a temporary folder" },
  "test/architecture.test.ts": { sideBySide: true, reason: "only reads files" },
  "test/service": {
    sideBySide: false,
    reason: "services of several processes, with timed signals and restarts",
  },
  "test/sources/openflow": {
    sideBySide: false,
    reason: "OpenFlow timers on the real clock; one Open vSwitch a machine",
  },
  "test/web": { sideBySide: false, reason: "a browser that needs both processors to draw in time" },
};

export interface Suite {
  readonly name: string;
  readonly sideBySide: boolean;
  /** A program whose exit status is the result, in place of test files. It counts as one test. */
  readonly check?: readonly string[];
  /** Test files, as paths from the root. */
  readonly files: readonly string[];
}

export function findSuites(root: string): Suite[] {
  const bin = (name: string) => join(root, "node_modules/.bin", name);
  const paths = [...new Bun.Glob("{src,test}/**/*.test.ts").scanSync(root)]
    .filter((path) => !path.includes("/node_modules/"))
    .sort();
  const groups = Map.groupBy(paths, suiteOf);
  const suites: Suite[] = [
    { ...placed("types"), check: [bin("tsc"), "--noEmit", "-p", "."], files: [] },
    { ...placed("lint"), check: [bin("biome"), "check", "--error-on-warnings"], files: [] },
    ...[...groups].map(([name, files]) => ({ ...placed(name), files })),
  ];
  const names = Object.keys(PLACEMENTS);
  const rank = ({ name }: Suite) => (names.includes(name) ? names.indexOf(name) : names.length);
  return suites.sort((a, b) => rank(a) - rank(b));
}

/** Every kind of source has a suite of its own, because most of them can run beside others. */
function suiteOf(path: string): string {
  const [area = "", entry = "", kind = ""] = path.split("/");
  if (area === "src") return area;
  return entry === "sources" ? `${area}/${entry}/${kind}` : `${area}/${entry}`;
}

const placed = (name: string) => ({ name, sideBySide: PLACEMENTS[name]?.sideBySide ?? false });

/** A word that is the name of a suite selects that suite. Any other word selects the test files whose path has it. */
export function selectSuites(suites: readonly Suite[], words: readonly string[]): Suite[] {
  if (words.length === 0) return [...suites];
  const names = new Set(suites.map(({ name }) => name));
  const parts = words.filter((word) => !names.has(word));
  const matches = (text: string) => parts.some((part) => text.includes(part));
  return suites.flatMap((suite) => {
    if (words.includes(suite.name)) return [suite];
    if (suite.check) return matches(suite.name) ? [suite] : [];
    const files = suite.files.filter(matches);
    return files.length > 0 ? [{ ...suite, files }] : [];
  });
}
