// Finds the runtime: one of the optional dependencies, which npm installs only for the machines they are made for. Plain
// JavaScript for Node, because it runs before there is a runtime.
import { createRequire } from "node:module";

/** The package with the runtime for this machine. */
export function bunPackage() {
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  return `@oven/bun-${process.platform}-${arch}${usesMusl() ? "-musl" : ""}`;
}

function usesMusl() {
  if (process.platform !== "linux") return false;
  // Otherwise the report looks up the names of all network peers.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** The path of the runtime's binary; undefined where its package is not installed. `from` is a file that depends on it. */
export function findBun(from) {
  try {
    return createRequire(from).resolve(`${bunPackage()}/bin/bun`);
  } catch {
    return undefined;
  }
}
