/**
 * Takes one change out of a stream, and leaves everything else as it was: the loss that nobody notices. Not the last
 * record of a revision that has several, since the client would see that and ask again.
 */
export interface Thief {
  /** From now on the first change that comes by is taken. */
  arm(): void;
  /** What was taken. */
  readonly stolen: string | undefined;
  /** For one stream. */
  passage(): TransformStream<Uint8Array, Uint8Array>;
}

export function createThief(): Thief {
  let armed = false;
  let stolen: string | undefined;
  const isPrey = (record: string) => armed && /^event: (?:added|updated|removed)\n/.test(record);
  return {
    arm() {
      armed = true;
    },
    get stolen() {
      return stolen;
    },
    passage() {
      const decoder = new TextDecoder();
      const encoder = new TextEncoder();
      let rest = "";
      // What is taken from a revision that the reader never gets the end of is told again: that is no theft yet.
      let taken: string | undefined;
      return new TransformStream({
        transform(chunk, controller) {
          const records = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
          rest = records.pop() ?? "";
          let passed = "";
          let ended = false;
          for (const record of records) {
            const free = stolen === undefined && taken === undefined;
            if (free && isPrey(record)) taken = record;
            else {
              passed += `${record}\n\n`;
              ended ||= taken !== undefined && record.startsWith("id: ");
            }
          }
          // In one piece: the reader waits for it, and a connection that breaks now cannot take it back.
          if (passed !== "") controller.enqueue(encoder.encode(passed));
          if (ended) stolen ??= taken;
        },
      });
    },
  };
}
