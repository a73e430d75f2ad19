/**
 * The command line that starts a reader process: the same program with a hidden command. It has a file of its own, so that the
 * table of commands can name the command without loading the service.
 */
import { IS_EXECUTABLE } from "../lib/program-files.ts";

export const READER_COMMAND = "reader-process";

/** The command line of a reader. A compiled executable contains its script; otherwise the script is an argument. */
export function readerCommandLine(): string[] {
  const script = IS_EXECUTABLE ? [] : [...process.execArgv, Bun.main];
  return [process.execPath, ...script, READER_COMMAND];
}
