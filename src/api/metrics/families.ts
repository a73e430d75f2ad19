/** Rendering of families of samples in Prometheus' text format (0.0.4). */
import { LATENCY_BOUNDS } from "../../lib/histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** The value of a sample. A histogram is the counts of its buckets, followed by the sum. */
export type Value = number | readonly number[];

/** A sample. Its labels may be the text that `labelText` returns. */
export type Sample = readonly [labels: Labels | string, value: Value];

/** The samples of a family. A number is a single sample without labels. */
type Samples = number | Iterable<Sample>;

export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
}

export const gauge = (name: string, help: string, samples: Samples): string =>
  renderFamily({ name, type: "gauge", help }, samples);

export const counter = (name: string, help: string, samples: Samples): string =>
  renderFamily({ name, type: "counter", help }, samples);

export function renderFamily({ name, type, help }: Family, samples: Samples): string {
  const list: Iterable<Sample> = typeof samples === "number" ? [["", samples]] : samples;
  const lines = Array.from(list, ([labels, value]) => {
    const text = typeof labels === "string" ? labels : labelText(labels);
    return typeof value === "number" ? renderSample(name, text, value) : renderHistogram(name, text, value);
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/** The labels of a sample, as they are between its braces. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([label, content]) => `${label}="${escapeLabel(content)}"`)
    .join(",");

/** Renders a histogram. In the text format the count of a bucket includes those of all lower buckets. */
function renderHistogram(name: string, labels: string, values: readonly number[]): string {
  let total = 0;
  const buckets = [...LATENCY_BOUNDS.map(String), "+Inf"].map((le, i) => {
    total += values[i] ?? 0;
    return renderSample(`${name}_bucket`, `${labels}${labels === "" ? "" : ","}le="${le}"`, total);
  });
  const sum = renderSample(`${name}_sum`, labels, values[buckets.length] ?? 0);
  return `${buckets.join("")}${sum}${renderSample(`${name}_count`, labels, total)}`;
}

const renderSample = (name: string, labels: string, value: number): string =>
  `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`;

const escapeLabel = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
