/** Parts of a panel that have to be asked for: asked once for each key, drawn when they come, kept while it stays. */
import { h, replace } from "../dom.ts";

export interface Lazy<T> {
  /** Asks with `load` when the subject, or its version, is another one than before. */
  show(
    subject: string,
    version: string,
    load: (signal: AbortSignal) => Promise<T>,
    draw: (value: T) => Node,
  ): HTMLElement;
}

export function createLazy<T>(): Lazy<T> {
  let [current, currentVersion] = ["", ""];
  let asking = new AbortController();
  let known: T | undefined;
  return {
    show(subject, version, load, draw) {
      const element = h("div", { class: "lazy" });
      if (subject === current && version === currentVersion && known !== undefined) {
        replace(element, draw(known));
        return element;
      }
      // What was known of the same thing stays until the new is there, so that nothing jumps.
      if (subject !== current) known = undefined;
      asking.abort();
      asking = new AbortController();
      const { signal } = asking;
      [current, currentVersion] = [subject, version];
      replace(element, known === undefined ? h("p", { class: "muted" }, "Loading…") : draw(known));
      load(signal).then(
        (value) => {
          if (signal.aborted) return;
          known = value;
          replace(element, draw(value));
        },
        (error: unknown) => {
          if (signal.aborted) return;
          current = "";
          replace(element, h("p", { class: "muted" }, `Not available: ${String(error)}`));
        },
      );
      return element;
    },
  };
}
