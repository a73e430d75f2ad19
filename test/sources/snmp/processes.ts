/** Programs that the SNMP tests run: each is ended by its own process id when the lab is closed. */
export async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"], timeout: 120_000 });
  const [output, errors, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`${command.join(" ")}: exit status ${status}\n${output}${errors}`);
  return output;
}

export class Daemon {
  readonly #child: Bun.Subprocess;

  constructor(command: readonly string[], logFile: string, env: Readonly<Record<string, string>> = {}) {
    const output = Bun.file(logFile);
    this.#child = Bun.spawn([...command], {
      env: { ...process.env, ...env },
      stdio: ["ignore", output, output],
    });
  }

  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    const ended = await Promise.race([this.#child.exited, Bun.sleep(5000)]);
    if (ended !== undefined) return;
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
}
