/** Starts the service with a simulated network outside the test runner, for the benchmarks and the screenshot. */
import { join } from "node:path";

export interface DemoService {
  readonly url: string;
  readonly user: { readonly username: string; readonly password: string };
  stop(): Promise<void>;
}

const GAZETTEER = join(import.meta.dir, "../../bin/gazetteer");
const LISTENING_LINE = /^listening on (http:\/\/\S+)\/controller\/v1$/m;

/** `spec` is the value of `--demo=`, such as `devices=50,hosts=300`. */
export async function startDemoService(spec: string): Promise<DemoService> {
  const user = { username: "reader", password: crypto.randomUUID() };
  const child = Bun.spawn([GAZETTEER, "serve", "--port", "0", "--data", ":memory:", `--demo=${spec}`], {
    env: { ...process.env, GAZETTEER_CREDENTIALS: `${user.username}:${user.password}` },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const stop = async () => {
    child.kill();
    await child.exited;
  };
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  let output = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the service did not start: ${output}`);
    output += decoder.decode(value, { stream: true });
    const url = LISTENING_LINE.exec(output)?.[1];
    if (url !== undefined) return { url, user, stop };
  }
}
