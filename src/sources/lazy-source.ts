/**
 * A kind of source whose code is loaded when a source of it first runs or is checked. A service, and each thread of a
 * source, so loads only the large kinds that it runs. The options are validated before, by a schema that is always loaded.
 */
import { checkOf, type Source, type SourceContext } from "./source.ts";

type Create<Options> = (options: Options, context: SourceContext) => Source;

export function loadedLater<Options extends { readonly name: string }>(
  load: () => Promise<Create<Options>>,
): Create<Options> {
  return (options, context) => {
    let source: Source | undefined;
    const open = async (): Promise<Source> => {
      const create = await load();
      source ??= create(options, context);
      return source;
    };
    return {
      name: options.name,
      run: async (sink, signal) => (await open()).run(sink, signal),
      metrics: () => source?.metrics?.() ?? {},
      check: async () => (await (await open()).check?.()) ?? checkOf(undefined),
    };
  };
}
