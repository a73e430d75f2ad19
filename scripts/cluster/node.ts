/** A node of a cluster as a child process: the real command. It ends with the runner. */
import { join } from "node:path";
import { endWithRunner } from "../end-with-runner.ts";

const GAZETTEER = process.env.TEST_EXECUTABLE ?? join(import.meta.dir, "../../bin/gazetteer");
const LISTENING_LINE = /^listening on (https?:\/\/\S+)\/controller\/v1$/m;

export interface NodeOptions {
  readonly name: string;
  /** 0 picks one. */
  readonly port: number;
  readonly data: string;
  /** `NAME:PASSWORD` */
  readonly credentials: string;
  readonly servers: readonly string[];
  readonly secretFile: string;
  /** More of `gazetteer serve`. */
  readonly args: readonly string[];
  /** Of another version: the folder of its checkout. */
  readonly root?: string;
  /** Without its log. */
  readonly isQuiet?: boolean;
}

export interface Node {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** In order. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Resolves when it listens. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { name, port, data, credentials, servers, secretFile, args, isQuiet = false, root } = options;
  const command = root === undefined ? [GAZETTEER] : [process.execPath, join(root, "src/main.ts")];
  const replicas = Math.min(3, servers.length);
  const child = Bun.spawn(
    [
      ...command,
      "serve",
      ...["--port", String(port), "--data", data, "--cluster", servers.join(",")],
      ...["--set", `cluster.node=${name}`, "--set", `cluster.replicas=${replicas}`],
      ...["--set", `cluster.secretFile=${secretFile}`],
      ...args,
    ],
    {
      env: { ...process.env, GAZETTEER_CREDENTIALS: credentials },
      stdio: ["ignore", "pipe", isQuiet ? "ignore" : "inherit"],
      detached: true,
    },
  );
  endWithRunner(child);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await child.exited;
  };
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    const url = LISTENING_LINE.exec(output)?.[1];
    if (url !== undefined)
      return { name, url, pid: child.pid, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
  }
  throw new Error(`the node ${name} did not start: ${output}`);
}
