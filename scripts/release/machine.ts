/**
 * A machine to throw away: systemd as the first process of namespaces of its own, on an overlay of this machine's files. What
 * is installed and started in it leaves no trace here, and it has no network but its own loopback interface. Needs root on
 * Linux and Debian's systemd; a container without the right to mount cannot do it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithRunner } from "../end-with-runner.ts";

/** A chroot in place of pivot_root would forbid user namespaces, and with them `PrivateUsers=`. */
const BOOT = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
cd root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs tmpfs run
mount --rbind /dev dev
mount -t tmpfs tmpfs sys/fs/cgroup
mkdir sys/fs/cgroup/systemd run/old
mount -t cgroup -o none,name=systemd,xattr systemd sys/fs/cgroup/systemd
pivot_root . run/old
umount -l /run/old
ip link set lo up
# Of the units of a whole system only the journal is started: others would change this machine's kernel, or take minutes.
mount --bind /proc/sys /proc/sys
mount -o remount,ro,bind /proc/sys
rm -rf /lib/systemd/system/*.wants /etc/systemd/system/*.wants
mkdir /lib/systemd/system/sysinit.target.wants
ln -s ../systemd-journald.service /lib/systemd/system/sysinit.target.wants/
# Containers forbid packages to start services.
rm -f /usr/sbin/policy-rc.d
echo 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/99machine
# What is written need not survive a power failure, and nobody reads manual pages.
echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/99machine
rm -f /var/lib/man-db/auto-update
exec env -i container=other PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
  /lib/systemd/systemd --unit=basic.target
`;
const NAMESPACES = ["--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"];
const BOOT_DEADLINE_MS = 30_000;
const POLL_MS = 50;

export interface CommandOutcome {
  readonly status: number;
  /** Standard output and standard error. */
  readonly output: string;
}

export interface Machine extends AsyncDisposable {
  /** The path of its root folder on this machine. */
  readonly root: string;
  /** Runs a script of the shell as root, in /root. */
  sh(script: string): Promise<CommandOutcome>;
}

export const canBoot = (): boolean =>
  process.getuid?.() === 0 && existsSync("/lib/systemd/systemd") && Bun.which("unshare") !== null;

export async function bootMachine(): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-machine-"));
  const host = Bun.spawn(
    ["unshare", "--fork", "--kill-child", ...NAMESPACES, "sh", "-c", BOOT, "sh", folder],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  endWithRunner(host);
  const dispose = async () => {
    host.kill("SIGKILL");
    await host.exited;
    rmSync(folder, { recursive: true });
  };
  const children = `/proc/${host.pid}/task/${host.pid}/children`;
  const firstProcess = () => (existsSync(children) ? readFileSync(children, "utf8").trim() : "");
  const machine: Machine = {
    get root() {
      return `/proc/${firstProcess()}/root`;
    },
    async sh(script) {
      const enter = ["nsenter", "--target", firstProcess(), ...NAMESPACES, "--root", "--wd"];
      const child = Bun.spawn([...enter, "sh", "-c", `cd /root; exec 2>&1; ${script}`], { stdin: "ignore" });
      const [output, status] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      return { status, output };
    },
    [Symbol.asyncDispose]: dispose,
  };
  const deadline = Date.now() + BOOT_DEADLINE_MS;
  while (Date.now() < deadline && host.exitCode === null) {
    if (
      firstProcess() !== "" &&
      /running|degraded/.test((await machine.sh("systemctl is-system-running")).output)
    )
      return machine;
    await Bun.sleep(POLL_MS);
  }
  await dispose();
  throw new Error(`the machine did not start: ${await new Response(host.stderr).text()}`);
}
