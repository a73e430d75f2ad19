/**
 * The service's own diary, on standard error: one line an event, `time level event key=value …`, values quoted
 * where they must be. Values may come from the network, so control characters are escaped: nobody writes a line of
 * ours for us. Secrets are never passed in.
 */
export type Level = "debug" | "info" | "warn" | "error";
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;
export interface Logger {
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

export const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

export function createLogger(
  level: Level,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Logger {
  const at =
    (of: Level) =>
    (event: string, fields: Fields = {}) => {
      if (LEVELS.indexOf(of) < LEVELS.indexOf(level)) return;
      let line = `${new Date().toISOString()} ${of} ${event}`;
      for (const [key, value] of Object.entries(fields)) {
        if (value !== undefined) line += ` ${key}=${shown(value)}`;
      }
      write(`${line}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function shown(value: string | number | boolean): string {
  const text = String(value);
  return /^[\w.:/@+-]+$/.test(text)
    ? text
    : JSON.stringify(text).replace(/[\u007f-\u009f\u2028-\u202e]/g, "?");
}

/** For tests and for tools that have nothing to say. */
export const silentLogger: Logger = createLogger("error", () => {});
