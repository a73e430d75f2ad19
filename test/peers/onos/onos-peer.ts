/** Runs ONOS on the test network. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NETWORK, ONOS_CREDENTIALS } from "../../onos/network.ts";
import type { Fetch } from "../../onos/requests.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { freePort } from "../../support/free-port.ts";
import { lockProcesses } from "../../support/process-lock.ts";
import { SERVE } from "./onos-install.ts";

const START_TIMEOUT_MS = 300_000;

const AUTHORIZATION = `Basic ${btoa(ONOS_CREDENTIALS)}`;

export interface OnosPeer extends AsyncDisposable {
  /** With the prefix. */
  readonly url: string;
  readonly fetchPath: Fetch;
}

export interface OnosOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** The four lists. ONOS reads them once. */
  readonly network?: Readonly<Record<string, readonly object[]>>;
}

export async function startOnos({
  port = freePort(),
  network = NETWORK,
}: OnosOptions = {}): Promise<OnosPeer> {
  // The first start installs it, in a folder that all suites share.
  await using _lock = await lockProcesses("onos");
  const folder = temporaryFolder();
  for (const [name, records] of Object.entries(network))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ [name]: records }));
  const child = Bun.spawn([SERVE, folder, String(port)], { stdio: ["ignore", "pipe", "pipe"] });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  const timeout = setTimeout(() => child.kill(), START_TIMEOUT_MS);
  try {
    await waitForLine(child.stdout, "listening on ");
  } catch (error) {
    await stop();
    throw new Error(`ONOS did not start: ${await new Response(child.stderr).text()}`, { cause: error });
  } finally {
    clearTimeout(timeout);
  }
  const url = `http://127.0.0.1:${port}/onos/v1`;
  return {
    url,
    fetchPath: (path, init) =>
      fetch(`${url}/${path}`, {
        ...init,
        headers: { ...init.headers, authorization: AUTHORIZATION },
      }),
    [Symbol.asyncDispose]: stop,
  };
}

async function waitForLine(output: ReadableStream<Uint8Array>, start: string): Promise<void> {
  let text = "";
  for await (const chunk of output) {
    text += Buffer.from(chunk).toString();
    if (text.split("\n").some((line) => line.startsWith(start))) return;
  }
  throw new Error("its output ended");
}
