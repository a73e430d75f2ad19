/** Starts a service of three processes and waits until all of them serve requests. */
import { type Service, type ServiceOptions, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

export async function startThreeProcesses(options: ServiceOptions): Promise<Service> {
  const { args = ["--data", ":memory:"] } = options;
  const service = await startService({ ...options, args: [...args, "--readers", "3"] });
  await waitForReaders(service);
  return service;
}

/** Counts the lines of the log, because /metrics would need credentials. `restarts` is how many readers were replaced. */
export function waitForReaders(service: Service, restarts = 0): Promise<boolean> {
  const lines = () => service.stderr().match(/ reader listens /g)?.length ?? 0;
  return until(() => lines() >= 2 + restarts, { what: "the readers to listen" });
}
