/**
 * `npm run release -- --dry-run`: builds all that a release consists of into dist/release, and checks it with what is too slow
 * or too particular for `npm test`. A step whose program is not installed is skipped and named. Words select steps by a part of
 * their names (`npm run release -- --dry-run sbom`), which then use what is there. Nothing is published: that is done by hand with
 * the commands that it prints.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import service from "../package.json";
import client from "../packages/client/package.json";
import { buildExecutable, isTarget, TARGETS, type Target } from "./build.ts";
import { buildDebianPackage, DEBIAN_ARCHITECTURES } from "./release/debian-package.ts";
import { runDocument } from "./release/document-commands.ts";
import { canBoot } from "./release/machine.ts";

const ROOT = join(import.meta.dir, "..");
const OUT = join(ROOT, "dist", "release");
const VERSION = service.version;
const artefact = (name: string) => join(OUT, name);
const executableOf = (target: Target) => artefact(`gazetteer-${target}`);
const packageOf = (architecture: string) => artefact(`gazetteer_${VERSION}_${architecture}.deb`);

/** Thrown by a step that this machine cannot run. */
class Skipped extends Error {}

function need(...programs: string[]): void {
  const missing = programs.filter((name) => Bun.which(name) === null);
  if (missing.length > 0) throw new Skipped(`${missing.join(", ")} not installed`);
}

function run(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): string {
  const { cwd = ROOT, env = {} } = options;
  const child = Bun.spawnSync([...command], { cwd, env: { ...process.env, ...env } });
  if (!child.success) throw new Error(`${command.join(" ")}\n${child.stdout}${child.stderr}`);
  return child.stdout.toString();
}

/** The date of the commit, so that the same commit gives the same packages. */
const releaseDate = () => new Date(Number(run(["git", "log", "-1", "--format=%ct"])) * 1000);

function checkVersions(): void {
  const [, latest] = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")) ?? [];
  for (const [where, version] of [
    ["CHANGELOG.md", latest],
    ["packages/client", client.version],
  ] as const)
    if (version !== VERSION) throw new Error(`${where} has version ${version}, package.json ${VERSION}`);
}

async function buildExecutables(): Promise<void> {
  for (const target of Object.keys(TARGETS).filter(isTarget))
    await buildExecutable(executableOf(target), target);
}

function packNpm(): void {
  for (const folder of [".", "packages/client"])
    run(["npm", "pack", "--silent", "--pack-destination", OUT], { cwd: join(ROOT, folder) });
}

function buildDebianPackages(): void {
  need("dpkg-deb");
  for (const target of ["linux-x64", "linux-arm64"] as const)
    buildDebianPackage({
      executable: executableOf(target),
      architecture: DEBIAN_ARCHITECTURES[target],
      folder: OUT,
      date: releaseDate(),
    });
}

/** npm lists the packages, and names this one by its folder. The runtime is a component that all artefacts contain. */
function writeSbom(): void {
  const sbom = JSON.parse(run(["npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev"]));
  const workspace = `${client.name}@${client.version}`;
  const isInside = (component: { readonly "bom-ref"?: string }) => component["bom-ref"] !== workspace;
  sbom.metadata.component.name = service.name;
  sbom.components = sbom.components.filter(isInside);
  sbom.components.push({
    type: "platform",
    name: "bun",
    version: Bun.version,
    purl: `pkg:npm/bun@${Bun.version}`,
  });
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }: { readonly ref: string }) => ref !== workspace)
    .map((dependency: { readonly dependsOn?: readonly string[] }) => ({
      ...dependency,
      dependsOn: dependency.dependsOn?.filter((ref) => ref !== workspace),
    }));
  writeFileSync(artefact("sbom.cdx.json"), `${JSON.stringify(sbom, undefined, 2)}\n`);
}

function writeChecksums(): void {
  const lines = readdirSync(OUT)
    .filter((name) => name !== "SHA256SUMS")
    .sort()
    .map(
      (name) =>
        `${new Bun.CryptoHasher("sha256").update(readFileSync(artefact(name))).digest("hex")}  ${name}\n`,
    );
  writeFileSync(artefact("SHA256SUMS"), lines.join(""));
}

/** What the runtime's binary causes: it is not stripped, and has its libraries inside. */
const ACCEPTED_TAGS = ["unstripped-binary-or-object", "embedded-library"];

function runLintian(): void {
  need("lintian");
  const suppress = ["--suppress-tags", ACCEPTED_TAGS.join()];
  run(["lintian", "--fail-on", "error", ...suppress, packageOf("amd64"), packageOf("arm64")]);
}

/** The executable for arm64 on an emulated processor; `libc6-arm64-cross` has the C library that it is linked to. */
function startOnArm(): void {
  need("qemu-aarch64-static");
  const emulated = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", executableOf("linux-arm64")];
  const version = run([...emulated, "version"]);
  if (!version.includes("linux arm64")) throw new Error(version);
  const script = `"$@" serve --demo --port 0 --data :memory: > "$0" & pid=$!
for n in $(seq 600); do url=$(sed -n 's/^listening on //p' "$0"); [ -n "$url" ] && break; sleep 0.1; done
for n in $(seq 100); do
  topology=$(curl --silent --show-error --fail -u ${CREDENTIALS} "$url/topology") || break
  case $topology in *'"devices":0,'*) sleep 0.2 ;; *) break ;; esac
done
echo "$topology"; kill $pid && wait $pid`;
  const output = join(OUT, "..", "arm64.log");
  writeFileSync(output, "");
  const topology = run(["sh", "-c", script, output, ...emulated], {
    env: { GAZETTEER_CREDENTIALS: CREDENTIALS },
  });
  if (!(JSON.parse(topology).devices > 0)) throw new Error(topology);
}

/**
 * The image of packaging/Containerfile. Its base is unpacked from Debian's packages, because distroless images come from a
 * registry; they consist of the same packages.
 */
function buildImage(): void {
  need("buildah", "apt-get", "dpkg-deb");
  const script = `set -e
cd "$1"
apt-get download -qq libc6 base-files
for package in *.deb; do dpkg-deb -x "$package" base; done
install -d -o 65532 -g 65532 base/home/nonroot
buildah() { command buildah --root "$PWD/storage" --runroot "$PWD/run" --storage-driver vfs "$@"; }
base=$(buildah from scratch)
buildah add -q "$base" base / && buildah commit -q "$base" base
buildah bud -q --isolation chroot --build-arg BASE=localhost/base -f "$2/packaging/Containerfile" -t gazetteer "$2/dist/release"
image=$(buildah from localhost/gazetteer)
buildah run --isolation chroot "$image" -- /usr/bin/gazetteer version
buildah run --isolation chroot "$image" -- /usr/bin/gazetteer check --allow-plaintext
buildah rm -a >/dev/null`;
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-image-"));
  try {
    run(["bash", "-c", script, "bash", folder, ROOT]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const readPage = (path: string) => readFileSync(join(ROOT, path), "utf8");
const CREDENTIALS = "reader:secret";

function report(results: readonly (string | undefined)[]): void {
  const failures = results.filter((failure) => failure !== undefined);
  if (failures.length > 0) throw new Error(failures.join("\n"));
}

async function runDocuments(): Promise<void> {
  if (!canBoot()) throw new Skipped("needs root and systemd");
  // The page upgrades to the next version, which is the same program here.
  const next = buildDebianPackage({
    executable: executableOf("linux-x64"),
    architecture: "amd64",
    folder: join(OUT, ".."),
    version: "1.0.1",
    compression: "none",
    date: releaseDate(),
  });
  const install = readPage("docs/install.md").replaceAll("1.0.0", VERSION);
  report([
    await runDocument(install, { files: [...readdirSync(OUT).map(artefact), next] }),
    await runDocument(readPage("README.md"), {
      files: [executableOf("linux-x64")],
      replace: { "<USERNAME>:<PASSWORD>": CREDENTIALS },
      prepare: `serve="/root/gazetteer-linux-x64 serve --demo --data :memory:"
systemd-run --setenv=GAZETTEER_CREDENTIALS=${CREDENTIALS} $serve
until curl --silent --fail http://127.0.0.1:8181/healthz; do sleep 0.1; done
# The page starts a service too, which must not use the same port.
export GAZETTEER_PORT=0 GAZETTEER_DATA=:memory:
# Commands that run until they are interrupted are interrupted.
gazetteer() { timeout --preserve-status --signal=INT 5 gazetteer "$@"; }`,
    }),
  ]);
}

/** Runs the tutorials that need only Debian's programs. The one for ONOS needs an ONOS. */
async function runTutorials(): Promise<void> {
  if (!canBoot()) throw new Skipped("needs root and systemd");
  need("jq", "mn", "node", "ovs-vsctl", "snmpd");
  const executable = "gazetteer-linux-x64";
  const prepare = `install ${executable} /usr/local/bin/gazetteer`;
  const clientPackage = `netgazetteer-client-${VERSION}.tgz`;
  report([
    await runDocument(readPage("docs/tutorials/operator.md").replaceAll("1.0.0", VERSION), {
      files: [packageOf("amd64")],
      replace: { "192.0.2.0/24": "127.0.0.1" },
      prepare: `echo createUser ann SHA-256 authentication-password AES privacy-password > snmpd.conf
echo rouser ann priv >> snmpd.conf
snmpd -C -c snmpd.conf udp:127.0.0.1:161`,
    }),
    await runDocument(readPage("docs/tutorials/mininet.md"), {
      files: [artefact(executable)],
      prepare: `${prepare}
/usr/share/openvswitch/scripts/ovs-ctl start --system-id=random --no-mlockall
export DATAPATH=user`,
    }),
    await runDocument(readPage("docs/tutorials/platform-team.md"), {
      files: [artefact(executable), artefact(clientPackage)],
      prepare: `${prepare}\nnpm install --offline ./${clientPackage}`,
    }),
  ]);
}

/** Has nginx and Caddy check the files that docs/install.md prints for them. */
function checkProxies(): void {
  need("nginx", "openssl", "apt-get", "dpkg-deb");
  const folder = mkdtempSync(join(tmpdir(), "gazetteer-proxies-"));
  const block = (language: string): string => {
    const [, text] =
      new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(readPage("docs/install.md")) ?? [];
    if (text === undefined) throw new Error(`docs/install.md has no block of ${language}`);
    return text.replaceAll("/etc/gazetteer", folder);
  };
  const script = `set -e
cd "$1"
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=net.example.org -keyout key.pem -out cert.pem
nginx -t -p "$1" -e error.log -g 'pid nginx.pid;' -c nginx.conf
apt-get download -qq caddy
dpkg-deb -x caddy_*.deb .
usr/bin/caddy validate --adapter caddyfile --config Caddyfile`;
  try {
    writeFileSync(join(folder, "nginx.conf"), `events {}\nhttp {\n${block("nginx")}}\n`);
    writeFileSync(join(folder, "Caddyfile"), block("caddy"));
    run(["sh", "-c", script, "sh", folder]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const STEPS: readonly (readonly [name: string, run: () => void | Promise<void>])[] = [
  ["versions", checkVersions],
  ["executables", buildExecutables],
  ["npm packages", packNpm],
  ["Debian packages", buildDebianPackages],
  ["sbom", writeSbom],
  ["checksums", writeChecksums],
  ["lintian", runLintian],
  ["start on arm64", startOnArm],
  ["container image", buildImage],
  ["commands of the documentation", runDocuments],
  ["commands of the tutorials", runTutorials],
  ["files of nginx and Caddy", checkProxies],
  ["tests of the packages", () => void run(["npm", "run", "test:peers", "--", "test/peers/packages"])],
];

const PUBLISH = `To publish, after a dry run without failures on a clean checkout:
  git tag -s v${VERSION} && git push origin v${VERSION}
  npm publish dist/release/netgazetteer-client-${VERSION}.tgz && npm publish dist/release/netgazetteer-${VERSION}.tgz
and attach all files of dist/release to the release.`;

async function main(): Promise<number> {
  const { values, positionals: words } = parseArgs({
    args: process.argv.slice(2),
    options: { "dry-run": { type: "boolean" } },
    allowPositionals: true,
  });
  if (!values["dry-run"]) {
    console.error(
      `npm run release -- --dry-run builds and checks a release; nothing is published.\n${PUBLISH}`,
    );
    return 2;
  }
  if (words.length === 0) rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  let failed = 0;
  const isSelected = (name: string) => words.length === 0 || words.some((word) => name.includes(word));
  for (const [name, step] of STEPS.filter(([name]) => isSelected(name))) {
    const beganMs = performance.now();
    let outcome = "ok";
    try {
      await step();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error instanceof Skipped) outcome = `SKIPPED: ${error.message}`;
      else {
        outcome = `FAILED: ${error.message}`;
        failed++;
      }
    }
    console.log(
      `${name.padEnd(32)}${((performance.now() - beganMs) / 1000).toFixed(1).padStart(6)} s  ${outcome}`,
    );
  }
  if (words.length === 0 && failed === 0)
    console.log(`${readFileSync(artefact("SHA256SUMS"), "utf8")}${PUBLISH}`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
