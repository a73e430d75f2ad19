/**
 * The suites of `npm test`: the type check, the lint, all unit tests, and one suite for each entry of test/ and of
 * test/sources/. Those of `npm run test:peers` are the folders of test/peers/: what takes minutes, or needs programs that
 * are packages of neither npm nor Debian. The table says which suites run at the same time. A suite that is not in the
 * table runs alone, which is always safe.
 */
import { join } from "node:path";

interface Placement {
  /**
   * How much of a processor it is given while it runs, in percent: about four fifths of its processor time by its duration
   * on a quiet machine, because suites often wait. So many run side by side that all processors are used. Absent: it runs
   * alone.
   */
  readonly load?: number;
  /** How many of its files run at the same time, in processes of their own; one when absent. */
  readonly workers?: number;
  /** Its files share one process: what they load is loaded once. Others are isolated: none sees what another left behind. */
  readonly sharesProcess?: true;
  /**
   * Runs in a network namespace that has a loopback interface only. A browser abandons its requests whenever an address of
   * the machine changes (ERR_NETWORK_CHANGED), as it does while Mininet makes interfaces beside it.
   */
  readonly ownLoopback?: true;
  /** What it needs beyond the packages of npm (`preparations.ts`). */
  readonly peers?: readonly string[];
  /** Runs only when a word on the command line selects it. */
  readonly isOnRequest?: true;
  readonly reason: string;
}

/** The packages of Debian. Any other name is that of a script that installs something. */
export const DEBIAN = "debian";
/** Builds dist/gazetteer, which the tests of the whole service run. */
export const EXECUTABLE = "scripts/build.ts";
const ONOS = "test/peers/onos/prepare.ts";
const SNMPSIM = "test/peers/snmp/prepare.ts";
const NEWER_NATS = "test/peers/nats/prepare.ts";
const MONITORING_TOOLS = "test/peers/integrations/debian-tools.ts";
const OPENAPI_TOOLS = "test/peers/openapi/prepare.ts";
const RECIPES = "test/peers/integrations/prepare-recipes.ts";

/**
 * Two suites may run at the same time when they share nothing but the processor: each listens on ports that the system
 * chooses, writes only to temporary folders of its own, and no assertion depends on how fast it runs. They start in the
 * order of the table, long ones first, as soon as their peers are installed.
 */
export const PLACEMENTS: Readonly<Record<string, Placement>> = {
  "test/web": {
    load: 100,
    workers: 2,
    ownLoopback: true,
    peers: [DEBIAN],
    reason: "browsers, which leave little to others; free ports; waits for conditions",
  },
  "test/sources/openflow/mininet": {
    load: 25,
    peers: [DEBIAN],
    reason: "one Open vSwitch a machine, whose timers are on the real clock; mostly waits for them",
  },
  "test/cluster": {
    load: 50,
    workers: 4,
    peers: [DEBIAN],
    reason: "mostly waits for leases to end; free ports; temporary folders; waits for conditions",
  },
  src: { load: 60, sharesProcess: true, reason: "manual clocks; temporary folders" },
  "test/sources/contract": {
    load: 30,
    workers: 2,
    peers: [DEBIAN],
    reason: "mostly waits for polls; free ports; temporary folders",
  },
  "test/sources/openflow": { load: 15, reason: "emulated switches; free ports; waits for conditions" },
  "test/hostile": { load: 50, reason: "free ports; temporary folders; asserts counts and order" },
  "test/service": {
    load: 70,
    workers: 2,
    peers: [DEBIAN],
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/api": {
    load: 55,
    sharesProcess: true,
    peers: [DEBIAN],
    reason: "manual clocks; free ports; waits for conditions",
  },
  "test/cli": { load: 45, peers: [DEBIAN], reason: "free ports; temporary folders; waits for conditions" },
  "test/sources/merging": {
    load: 40,
    workers: 2,
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/sources/snmp": {
    load: 40,
    workers: 2,
    peers: [DEBIAN],
    reason: "mostly waits for LLDP and for polls; free ports; network namespaces of its own",
  },
  "test/sources/controller": { load: 35, reason: "free ports; temporary folders; waits for conditions" },
  "test/map": { load: 30, peers: [DEBIAN], reason: "free ports; temporary folders; waits for conditions" },
  "test/client": {
    load: 40,
    peers: [DEBIAN],
    reason: "manual clocks; free ports; builds into a new folder of dist/",
  },
  types: { load: 80, reason: "only reads files" },
  "test/http1": { load: 60, peers: [DEBIAN], reason: "manual clocks; free ports" },
  lint: { load: 80, reason: "only reads files" },
  "test/sources/restconf": { load: 50, reason: "free ports; waits for conditions" },
  "test/onos": { load: 80, reason: "free ports; temporary folders; waits for conditions" },
  "test/scripts": { load: 60, reason: "runs the runner in a temporary folder" },
  "test/formats": { load: 80, peers: [DEBIAN], reason: "pure renderers; files with random names" },
  "test/sources/http": { load: 100, reason: "free ports; waits for conditions" },
  "test/architecture.test.ts": { load: 100, reason: "only reads files" },
  "test/docs": { load: 100, reason: "reads files; temporary folders" },

  "test/peers/web": {
    load: 90,
    workers: 2,
    ownLoopback: true,
    peers: [DEBIAN],
    reason: "browsers, which leave little to others; free ports; waits for conditions",
  },
  "test/peers/soak": { load: 55, reason: "free ports; a temporary folder; bounds that count, not time" },
  "test/peers/properties": { load: 50, reason: "manual clocks; free ports; temporary folders" },
  "test/peers/chaos": {
    load: 35,
    peers: [DEBIAN, NEWER_NATS],
    reason: "mostly waits for disturbances to end; free ports; temporary folders; asserts content, not time",
  },
  "test/peers/cluster": {
    load: 50,
    workers: 2,
    peers: [DEBIAN],
    reason: "mostly waits for leases to end; free ports; temporary folders; waits for conditions",
  },
  "test/peers/hostile": { load: 45, reason: "free ports; temporary folders; asserts counts and order" },
  "test/peers/snmp": {
    load: 35,
    peers: [DEBIAN, SNMPSIM],
    reason: "mostly waits for the simulator; free ports; temporary folders",
  },
  "test/peers/onos": {
    load: 70,
    peers: [ONOS],
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/peers/nats": {
    load: 30,
    peers: [DEBIAN, NEWER_NATS],
    reason: "mostly waits for elections; free ports; temporary folders; waits for conditions",
  },
  "test/peers/packages": {
    load: 100,
    peers: [DEBIAN],
    reason: "free ports; new folders; a machine of its own for the Debian package",
  },
  "test/peers/integrations": {
    load: 50,
    peers: [DEBIAN, MONITORING_TOOLS, RECIPES],
    reason: "free ports; temporary folders; waits for conditions",
  },
  "test/peers/openapi": {
    load: 70,
    peers: [OPENAPI_TOOLS],
    reason: "reads openapi.json; a service on a free port",
  },
  "test/peers/docs": { load: 100, reason: "a folder of its own in dist/" },
  "test/peers/generators": {
    isOnRequest: true,
    reason: "compiles for minutes; Go, Java, Python, Rust and their registries",
  },
  "test/peers/opendaylight": {
    peers: [DEBIAN],
    isOnRequest: true,
    reason: "minutes and 800 MB; Maven; one Open vSwitch a machine",
  },
};

export interface Suite {
  readonly name: string;
  /** Of a processor, in percent; absent when it runs alone. */
  readonly load?: number;
  readonly workers?: number;
  readonly sharesProcess?: true;
  readonly ownLoopback?: true;
  readonly peers: readonly string[];
  readonly isOnRequest?: true;
  /** A program whose exit status is the result, in place of test files. It counts as one test. */
  readonly check?: readonly string[];
  /** Test files, as paths from the root. */
  readonly files: readonly string[];
}

/** Which command runs a suite: `npm test`, or `npm run test:peers`. */
export type SuiteList = "test" | "peers";

/** What did not change since the last run is not checked again. */
const TSC_OPTIONS = [
  ...["--noEmit", "-p", "."],
  ...["--incremental", "--tsBuildInfoFile", "node_modules/.cache/tsc.json"],
];
const PEERS_FOLDER = "test/peers/";

export function findSuites(root: string, list: SuiteList): Suite[] {
  const bin = (name: string) => join(root, "node_modules/.bin", name);
  const paths = [...new Bun.Glob("{src,test}/**/*.test.ts").scanSync(root)]
    .filter((path) => !path.includes("/node_modules/"))
    .filter((path) => path.startsWith(PEERS_FOLDER) === (list === "peers"))
    .sort();
  const checks: Suite[] = [
    { ...placed("types"), check: [bin("tsc"), ...TSC_OPTIONS], files: [] },
    { ...placed("lint"), check: [bin("biome"), "check", "--error-on-warnings"], files: [] },
  ];
  const suites: Suite[] = [
    ...(list === "test" ? checks : []),
    ...[...Map.groupBy(paths, suiteOf)].map(([name, files]) => ({ ...placed(name), files })),
  ];
  const names = Object.keys(PLACEMENTS);
  const rank = ({ name }: Suite) => (names.includes(name) ? names.indexOf(name) : names.length);
  return suites.sort((a, b) => rank(a) - rank(b));
}

/** The innermost folder of the table. Every kind of source has a suite of its own: most of them can run beside others. */
function suiteOf(path: string): string {
  const inTable = Object.keys(PLACEMENTS).filter((name) => path === name || path.startsWith(`${name}/`));
  const innermost = inTable.toSorted((a, b) => b.length - a.length).at(0);
  if (innermost !== undefined) return innermost;
  const [area = "", entry = "", kind = ""] = path.split("/");
  if (area === "src") return area;
  return entry === "sources" || entry === "peers" ? `${area}/${entry}/${kind}` : `${area}/${entry}`;
}

function placed(name: string): Omit<Suite, "check" | "files"> {
  const { reason: _, peers = [], ...placement } = PLACEMENTS[name] ?? { reason: "" };
  return { name, peers: name.startsWith("test/") ? [EXECUTABLE, ...peers] : peers, ...placement };
}

/** A word that is the name of a suite selects that suite. Any other word selects the test files whose path has it. */
export function selectSuites(suites: readonly Suite[], words: readonly string[]): Suite[] {
  if (words.length === 0) return suites.filter(({ isOnRequest }) => !isOnRequest);
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
