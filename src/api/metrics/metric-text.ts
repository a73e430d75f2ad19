/** Prometheus' text format (0.0.4): one family of samples as text. */
import type { HistogramCounts } from "../../lib/histogram.ts";

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** A single number is one sample without labels. */
type Samples = number | readonly Sample[];

export const gauge = (name: string, help: string, samples: Samples): string =>
  renderFamily(name, "gauge", help, samples);

export const counter = (name: string, help: string, samples: Samples): string =>
  renderFamily(name, "counter", help, samples);

export function renderFamily(
  name: string,
  type: "gauge" | "counter",
  help: string,
  samples: Samples,
): string {
  const list: readonly Sample[] = typeof samples === "number" ? [[{}, samples]] : samples;
  return `${header(name, type, help)}${list.map((sample) => renderSample(name, sample)).join("")}`;
}

/** Each count of a bucket includes those of the buckets before. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  samples: readonly (readonly [labels: Labels, counts: HistogramCounts])[],
): string {
  const lines = samples.flatMap(([labels, { counts, sum }]) => {
    let total = 0;
    const buckets = [...bounds.map(String), "+Inf"].map((le, i) => {
      total += counts[i] ?? 0;
      return renderSample(`${name}_bucket`, [{ ...labels, le }, total]);
    });
    return [
      ...buckets,
      renderSample(`${name}_sum`, [labels, sum]),
      renderSample(`${name}_count`, [labels, total]),
    ];
  });
  return `${header(name, "histogram", help)}${lines.join("")}`;
}

const header = (name: string, type: string, help: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function renderSample(name: string, [labels, value]: Sample): string {
  const pairs = Object.entries(labels).map(([label, content]) => `${label}="${escapeLabel(content)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}\n`;
}

const escapeLabel = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
