/** A service of three processes, all of which answer. */
import { type Service, type ServiceOptions, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

export async function startThree(options: ServiceOptions): Promise<Service> {
  const { args = ["--data", ":memory:"] } = options;
  const service = await startService({ ...options, args: [...args, "--readers", "3"] });
  await threeListen(service);
  return service;
}

/** What the log says, and not the figures: those would need a password. */
export function threeListen(service: Service, more = 0): Promise<boolean> {
  const lines = () => service.stderr().match(/ reader listens /g)?.length ?? 0;
  return until(() => lines() >= 2 + more, { what: "readers" });
}
