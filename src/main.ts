/** The program: arguments in, exit status out. The only file that ends the process. */
import { runCommand } from "./cli/commands.ts";
import { createProcessContext, rememberBlocking } from "./cli/process-context.ts";

const exit = (status: number): never => process.exit(status);
const restoreBlocking = rememberBlocking();

try {
  const status = await runCommand(process.argv.slice(2), createProcessContext(exit));
  await restoreBlocking();
  exit(status);
} catch (error) {
  console.error("gazetteer: internal error, please report it:", error);
  exit(1);
}
