/**
 * Renders JSON values as YAML for `-o yaml`. Text from the network that has control characters or characters that change
 * the text direction is quoted and escaped, so that it can neither control a terminal nor look like other YAML. Text that
 * YAML 1.1 would read as another type (`yes`, `10:20:30`) is quoted, because many parsers still implement YAML 1.1.
 */
import { Document, Scalar, visit } from "yaml";
import { escapeControlCharacters, escapeLines } from "./table.ts";

/** `tagOf` returns the tag of a text, if it has one. */
export function renderYaml(value: unknown, tagOf?: (text: string) => string | undefined): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  visit(document, {
    Scalar(_key, node) {
      const { value: text } = node;
      if (typeof text !== "string") return;
      if (text !== escapeControlCharacters(text)) node.type = Scalar.QUOTE_DOUBLE;
      const tag = tagOf?.(text);
      if (tag !== undefined) node.tag = tag;
    },
  });
  // The escapes are those of a double-quoted scalar, so a program parses the same value.
  return escapeLines(document.toString({ lineWidth: 0 }));
}
