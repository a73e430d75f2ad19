/** ONOS 2.7's own REST application, as a script beside the repository starts it. The first start downloads it with Maven. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SHARED_FOLDER } from "../../../scripts/test/shared.ts";

export const SERVE = join(SHARED_FOLDER, "peers/onos/serve");

/** Why ONOS cannot run here; undefined when it can. */
export function missingForOnos(): string | undefined {
  if (!existsSync(SERVE)) return "../shared/peers/onos does not exist";
  const missing = ["java", "mvn", "unzip", "flock"].filter((command) => Bun.which(command) === null);
  return missing.length > 0 ? `${missing.join(", ")} not on the PATH` : undefined;
}
