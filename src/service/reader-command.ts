/**
 * How a reader process is started: the same program with a hidden command. In a file of its own, so that the table of
 * commands can name the command without loading the service.
 */
export const READER_COMMAND = "reader-process";

/** A compiled executable contains its script; otherwise the script is an argument of the runtime. */
export function readerCommandLine(): string[] {
  const script = Bun.main.includes("$bunfs") ? [] : [...process.execArgv, Bun.main];
  return [process.execPath, ...script, READER_COMMAND];
}
