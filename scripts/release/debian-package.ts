/**
 * Makes the Debian package of the single executable, with the files of packaging/: the user, the unit, the configuration,
 * completion of shells and the manual page. Needs dpkg-deb and nothing else; the result does not depend on who builds it.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { COMPLETION_SCRIPTS } from "../../src/cli/completion.ts";
import { VERSION } from "../../src/lib/version.ts";
import { renderManPage } from "./man-page.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PACKAGING = join(ROOT, "packaging");
const MAINTAINER = "The Gazetteer authors <gazetteer@packages.invalid>";

/** Debian's names of processors. */
export const DEBIAN_ARCHITECTURES = { "linux-x64": "amd64", "linux-arm64": "arm64" } as const;
export type DebianArchitecture = (typeof DEBIAN_ARCHITECTURES)[keyof typeof DEBIAN_ARCHITECTURES];

export interface DebianPackageOptions {
  readonly executable: string;
  readonly architecture: DebianArchitecture;
  /** The folder for the package. */
  readonly folder: string;
  /** Default: the version of this program. */
  readonly version?: string;
  /** The date of the release. */
  readonly date: Date;
  /** Default: `xz`, which takes a minute. */
  readonly compression?: "xz" | "none";
}

/** Returns the path of the package. */
export function buildDebianPackage(options: DebianPackageOptions): string {
  const { version = VERSION, architecture, date, compression = "xz" } = options;
  const tree = mkdtempSync(join(tmpdir(), "gazetteer-deb-"));
  try {
    chmodSync(tree, 0o755);
    const put = (path: string, content: string | Uint8Array, mode = 0o644) => {
      const target = join(tree, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
      writeFileSync(target, content, { mode });
      chmodSync(target, mode);
    };
    const packaged = (name: string) => readFileSync(join(PACKAGING, name));
    const compressed = (text: string) => gzipSync(text, { level: 9 });

    put("usr/bin/gazetteer", "", 0o755);
    copyFileSync(options.executable, join(tree, "usr/bin/gazetteer"));
    chmodSync(join(tree, "usr/bin/gazetteer"), 0o755);
    put("lib/systemd/system/gazetteer.service", packaged("gazetteer.service"));
    put("etc/gazetteer/gazetteer.yaml", packaged("gazetteer.yaml"));
    put("etc/default/gazetteer", packaged("default"));
    put("usr/share/bash-completion/completions/gazetteer", COMPLETION_SCRIPTS.bash);
    put("usr/share/zsh/vendor-completions/_gazetteer", COMPLETION_SCRIPTS.zsh);
    put("usr/share/fish/vendor_completions.d/gazetteer.fish", COMPLETION_SCRIPTS.fish);
    for (const name of ["prometheus/gazetteer.rules.yml", "grafana/gazetteer.json"])
      put(`usr/share/gazetteer/${name}`, packaged(name));
    put("usr/share/man/man1/gazetteer.1.gz", compressed(renderManPage(date)));
    put("usr/share/doc/gazetteer/copyright", packaged("debian/copyright"));
    put("usr/share/doc/gazetteer/changelog.gz", compressed(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")));
    put("usr/share/doc/gazetteer/changelog.Debian.gz", compressed(renderChangelog(version, date)));

    put("DEBIAN/conffiles", "/etc/default/gazetteer\n/etc/gazetteer/gazetteer.yaml\n");
    for (const script of ["postinst", "prerm", "postrm"])
      put(`DEBIAN/${script}`, packaged(`debian/${script}`), 0o755);
    put("DEBIAN/md5sums", checksums(tree));
    put("DEBIAN/control", renderControl(version, architecture, installedKilobytes(tree)));

    const target = join(options.folder, `gazetteer_${version}_${architecture}.deb`);
    const epoch = String(Math.floor(date.getTime() / 1000));
    const build = Bun.spawnSync(
      ["dpkg-deb", "--root-owner-group", `-Z${compression}`, "--build", tree, target],
      {
        env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
        stdout: "ignore",
      },
    );
    if (!build.success) throw new Error(`dpkg-deb: ${build.stderr}`);
    return target;
  } finally {
    rmSync(tree, { recursive: true });
  }
}

const renderControl = (version: string, architecture: DebianArchitecture, kilobytes: number): string =>
  `Package: gazetteer
Version: ${version}
Section: net
Priority: optional
Architecture: ${architecture}
Installed-Size: ${kilobytes}
Depends: adduser, libc6 (>= 2.17)
Maintainer: ${MAINTAINER}
Description: read service over a network controller's view of the network
 Gazetteer reads networks from OpenFlow switches, controllers, SNMP, files and
 scripts, merges them into one view, and serves devices, links, hosts and
 topology over HTTP: with filters, live changes, history and a map. Its JSON is
 a superset of that of ONOS.
`;

const renderChangelog = (version: string, date: Date): string =>
  `gazetteer (${version}) stable; urgency=medium

  * Release ${version}; changelog.gz has its changes.

 -- ${MAINTAINER}  ${date.toUTCString().replace("GMT", "+0000")}
`;

const contentsOf = (tree: string): string[] =>
  readdirSync(tree, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.startsWith("DEBIAN") && statSync(join(tree, path)).isFile())
    .sort();

const checksums = (tree: string): string =>
  contentsOf(tree)
    .filter((path) => !path.startsWith("etc/"))
    .map(
      (path) =>
        `${new Bun.CryptoHasher("md5").update(readFileSync(join(tree, path))).digest("hex")}  ${path}\n`,
    )
    .join("");

const installedKilobytes = (tree: string): number =>
  contentsOf(tree).reduce((sum, path) => sum + Math.ceil(statSync(join(tree, path)).size / 1024), 0);
