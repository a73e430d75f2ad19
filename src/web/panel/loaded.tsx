/**
 * Content that is loaded on demand. It loads again when `version` changes and shows the previous value until the new one
 * is there, so that the panel does not jump. Give it a `key` for the subject: another subject starts empty.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

interface LoadedProps<T> {
  /** Compared by identity: an object that is read again is another version, also with the same content. */
  readonly version: string | object | undefined;
  readonly load: (signal: AbortSignal) => Promise<T>;
  readonly children: (value: T) => ComponentChildren;
}

type Result<T> = { readonly value: T } | { readonly error: string } | undefined;

export function Loaded<T>({ version, load, children }: LoadedProps<T>) {
  const result = useSignal<Result<T>>(undefined);
  useEffect(() => {
    const request = new AbortController();
    load(request.signal).then(
      (value) => {
        if (!request.signal.aborted) result.value = { value };
      },
      (error: unknown) => {
        if (!request.signal.aborted) result.value = { error: `Not available: ${String(error)}` };
      },
    );
    return () => request.abort();
  }, [version]);
  const current = result.value;
  return (
    <div class="lazy">
      {current && "value" in current ? (
        children(current.value)
      ) : (
        <p class="muted">{current?.error ?? "Loading…"}</p>
      )}
    </div>
  );
}
