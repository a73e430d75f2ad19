/**
 * The log of the service, on standard error: one line per event, `time level event key=value …` or a JSON object with the same
 * fields. Values may come from the network, so they are quoted and control characters are escaped: input cannot forge a log
 * line. Callers pass no secrets. Audit lines (logins, refusals, changed users) have a level of their own.
 */
export type Level = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  audit(event: string, fields?: LogFields): void;
}

export type LogFormat = "text" | "json";

/** `common` are fields at the end of each line. */
export function createLogger(
  write: (line: string) => void = (line) => process.stderr.write(line),
  format: LogFormat = "text",
  common: LogFields = {},
): Logger {
  const render = format === "json" ? renderJson : renderText;
  const logAt = (level: Level | "audit") => (event: string, fields?: LogFields) =>
    write(`${render(new Date().toISOString(), level, event, { ...fields, ...common })}\n`);
  return {
    info: logAt("info"),
    warn: logAt("warn"),
    error: logAt("error"),
    audit: logAt("audit"),
  };
}

function renderText(time: string, level: string, event: string, fields: LogFields): string {
  let line = `${time} ${level} ${event}`;
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) line += ` ${key}=${renderValue(value)}`;
  }
  return line;
}

const renderJson = (time: string, level: string, event: string, fields: LogFields): string =>
  JSON.stringify({ time, level, event, ...fields }).replace(
    UNSAFE_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Control characters that JSON does not escape, line separators, and marks that change the text direction. */
const UNSAFE_CHARACTERS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function renderValue(value: string | number | boolean): string {
  const text = String(value);
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text).replace(UNSAFE_CHARACTERS, "?");
}

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger(() => {});
