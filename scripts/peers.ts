/**
 * The programs that tests run against, as Debian packages. Missing ones are installed when this is root on a machine with
 * apt. Otherwise the run prints what is missing, and the tests that need it print that they are skipped.
 */

/** Package → a command that succeeds when it is installed. */
type Packages = Readonly<Record<string, readonly string[]>>;

/** Debian's own Python, because the modules are Debian's. */
export const PEERS: Packages = {
  chromium: ["which", "chromium"],
  curl: ["which", "curl"],
  "openvswitch-switch": ["which", "ovs-vsctl"],
  mininet: ["which", "mn"],
  "iputils-ping": ["which", "ping"],
  iproute2: ["which", "ip"],
  graphviz: ["which", "dot"],
  "python3-networkx": pythonHas("networkx"),
  "python3-os-ken": pythonHas("os_ken"),
  "libyang-tools": ["which", "yanglint"],
  "libxml2-utils": ["which", "xmllint"],
  nginx: ["which", "nginx"],
  snmpd: ["which", "snmpd"],
  lldpd: ["which", "lldpd"],
  "python3-venv": pythonHas("ensurepip"),
  wrk: ["which", "wrk"],
  "nats-server": ["which", "nats-server"],
  prometheus: ["which", "prometheus"],
  systemd: ["which", "systemd-analyze"],
  zsh: ["which", "zsh"],
  fish: ["which", "fish"],
};

/** Package → command, of what only makes tests faster: where it cannot be had, they run without. */
const HELPFUL: Packages = {
  "chromium-headless-shell": ["which", "chromium-headless-shell"],
};

const APT_DEADLINE_MS = 10 * 60_000;
const APT_TRIES = 2;
const APT_OPTIONS = ["-qq", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=120"];

function pythonHas(module: string): string[] {
  const probe = `import importlib.util, sys; sys.exit(importlib.util.find_spec("${module}") is None)`;
  return ["/usr/bin/python3", "-c", probe];
}

function succeeds(command: readonly string[]): boolean {
  try {
    return Bun.spawnSync([...command], { stdio: ["ignore", "ignore", "ignore"] }).success;
  } catch {
    return false; // the program does not exist
  }
}

const missing = (packages: Packages) =>
  Object.keys(packages).filter((name) => !succeeds(packages[name] ?? []));

async function apt(...args: string[]): Promise<string | undefined> {
  const child = Bun.spawn(["apt-get", ...APT_OPTIONS, ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: APT_DEADLINE_MS,
  });
  const [errors, status] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return status === 0 ? undefined : errors.trim() || `apt-get ${args[0]} ended with ${status}`;
}

const install = (packages: readonly string[]) => apt("install", "-y", "--no-install-recommends", ...packages);

export async function installPeers(packages = PEERS, helpfulPackages = HELPFUL): Promise<void> {
  let absent = missing(packages);
  const helpful = missing(helpfulPackages);
  if (absent.length + helpful.length === 0) return;
  let reason: string | undefined = "not root, or no apt-get on this machine";
  if (process.getuid?.() === 0 && Bun.which("apt-get")) {
    console.log(`installing Debian packages for the tests: ${[...absent, ...helpful].join(" ")} …`);
    for (let tries = 0; tries < APT_TRIES && absent.length > 0; tries++) {
      // After a failed update the package may still be in an older list, so the installation is tried all the same.
      const update = await apt("update");
      reason = (await install(absent)) ?? update;
      absent = missing(packages);
    }
    // Apart, because one that is not in the list would keep the others from being installed.
    if (helpful.length > 0) await install(helpful);
  }
  if (absent.length === 0) return;
  const line = "!".repeat(78);
  console.log(`${line}\nMISSING: ${absent.join(" ")}\n${reason ?? ""}`);
  console.log(`Tests that need them are skipped, or fail where CI=true. To install them:`);
  console.log(`  apt-get install --no-install-recommends ${absent.join(" ")}\n${line}`);
}
