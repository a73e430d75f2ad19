/**
 * The errors of failed tests in the output of `bun test`, to be repeated at the end of a run: of a long run, the end is what
 * people and tools keep. Bun prints the error of a test before the line with its name.
 */

/** An error can contain the logs of whole services. */
const SHOWN_LINES = 25;

const RESULT = /^\((?:pass|fail|skip|todo)\) /;
/** From here on Bun names the failed tests again. */
const SUMMARY = /^\d+ tests failed:$/;

export function failureReasons(output: string): string[] {
  const reasons: string[] = [];
  let error: string[] | undefined;
  for (const line of output.split("\n")) {
    if (SUMMARY.test(line)) break;
    if (RESULT.test(line)) {
      if (line.startsWith("(fail) ")) reasons.push([line, ...(error ?? ["no error was printed"])].join("\n"));
      error = undefined;
    } else if (error === undefined && /^(?:\w*error|timeout)\b/i.test(line)) error = [line];
    else if (error && error.length < SHOWN_LINES) error.push(line);
  }
  return reasons;
}
