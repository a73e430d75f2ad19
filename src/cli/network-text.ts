/** A network file as text, in chunks: a record after the other, because the YAML of a large network at once takes gigabytes. */
import type { NetworkDocument } from "../import/network-document.ts";
import { KINDS } from "../model/ids.ts";
import { renderYaml } from "./yaml-text.ts";

const RECORDS_PER_CHUNK = 256;

export function* renderNetwork(document: NetworkDocument, asJson: boolean): Generator<string> {
  if (asJson) yield "{";
  let separator = "";
  for (const kind of KINDS) {
    const records = document[kind] ?? [];
    if (records.length === 0) continue;
    yield asJson ? `${separator}\n"${kind}":[` : `${kind}:\n`;
    yield* renderRecords(records, asJson);
    if (asJson) yield "\n]";
    separator = ",";
  }
  if (asJson) yield "\n}\n";
  else if (separator === "") yield "devices: []\n";
}

function* renderRecords(records: readonly object[], asJson: boolean): Generator<string> {
  for (let at = 0; at < records.length; at += RECORDS_PER_CHUNK) {
    const chunk = records.slice(at, at + RECORDS_PER_CHUNK);
    if (!asJson) yield renderYaml(chunk);
    else yield chunk.map((record, i) => `${at + i === 0 ? "" : ","}\n${JSON.stringify(record)}`).join("");
  }
}
