/** Runs ONOS 2.7's own REST application on the test network. The first start downloads it with Maven. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SHARED_FOLDER } from "../../scripts/test/shared.ts";
import { temporaryFolder } from "../support/folder.ts";
import { NETWORK } from "./network.ts";
import type { Fetch } from "./requests.ts";

const SERVE = join(SHARED_FOLDER, "peers/onos/serve");
const START_TIMEOUT_MS = 300_000;
const AUTHORIZATION = `Basic ${btoa("onos:rocks")}`;

export interface OnosPeer extends AsyncDisposable {
  readonly fetchPath: Fetch;
}

/** Why ONOS cannot run here; undefined when it can. */
export function missingForOnos(): string | undefined {
  if (!existsSync(SERVE)) return "../shared/peers/onos does not exist";
  const missing = ["java", "mvn", "unzip"].filter((command) => Bun.which(command) === null);
  return missing.length > 0 ? `${missing.join(", ")} not on the PATH` : undefined;
}

export async function startOnos(): Promise<OnosPeer> {
  const folder = temporaryFolder();
  for (const [name, records] of Object.entries(NETWORK))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ [name]: records }));
  const port = freePort();
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
  return {
    fetchPath: (path, init) =>
      fetch(`http://127.0.0.1:${port}/onos/v1/${path}`, {
        ...init,
        headers: { ...init.headers, authorization: AUTHORIZATION },
      }),
    [Symbol.asyncDispose]: stop,
  };
}

/** ONOS cannot choose a port by itself. */
function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function waitForLine(output: ReadableStream<Uint8Array>, start: string): Promise<void> {
  let text = "";
  for await (const chunk of output) {
    text += Buffer.from(chunk).toString();
    if (text.split("\n").some((line) => line.startsWith(start))) return;
  }
  throw new Error("its output ended");
}
