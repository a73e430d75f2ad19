/** A collection that is changed value by value, for tests. Each change is one more version. */
import { runToEnd } from "../../src/lib/steps.ts";
import { Collection } from "../../src/view/collection.ts";
import type { EncodedPage } from "../../src/view/encoded-page.ts";

export class MutableCollection {
  current = Collection.of([]);

  get size(): number {
    return this.current.size;
  }

  get(id: string): string | undefined {
    return this.current.get(id);
  }

  put(id: string, before: string | null, after: string | null): void {
    const sizeChange = Number(after !== null) - Number(before !== null);
    this.current = runToEnd(this.current.withWrites([{ id, after }], sizeChange));
    this.current.publish();
  }

  pages(): readonly EncodedPage[] {
    return runToEnd(this.current.pages());
  }

  range(from: string, to: string): string[] {
    return Array.from(this.current.range(from, to), ({ text }) => text);
  }
}
