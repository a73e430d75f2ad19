/**
 * The log of the service, on standard error: one line per event, `time level event key=value …`. Values may come from the
 * network, so they are quoted and control characters are escaped: input cannot forge a log line. Callers pass no secrets.
 * Audit lines (logins, refusals, changed users) have a level of their own.
 */
export type Level = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  audit(event: string, fields?: LogFields): void;
}

export function createLogger(write: (line: string) => void = (line) => process.stderr.write(line)): Logger {
  const logAt =
    (lineLevel: Level | "audit") =>
    (event: string, fields: LogFields = {}) => {
      let line = `${new Date().toISOString()} ${lineLevel} ${event}`;
      for (const [key, value] of Object.entries(fields)) {
        if (value !== undefined) line += ` ${key}=${renderValue(value)}`;
      }
      write(`${line}\n`);
    };
  return {
    info: logAt("info"),
    warn: logAt("warn"),
    error: logAt("error"),
    audit: logAt("audit"),
  };
}

/** Control characters that JSON does not escape, line separators, and marks that change the text direction. */
const UNSAFE_CHARACTERS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function renderValue(value: string | number | boolean): string {
  const text = String(value);
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text).replace(UNSAFE_CHARACTERS, "?");
}

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger(() => {});
