/**
 * Charts as SVG text, without a dependency. The colours follow the colour scheme of the reader, and the background is part
 * of the picture, so that a chart is legible wherever it is embedded. Every line and bar has its name beside it.
 */

const WIDTH = 860;
const LINE_HEIGHT = 17;
const STYLE = `
  svg { --ground: #ffffff; --ink: #1f2328; --faint: #d0d7de; --muted: #59636e; --peer: #9aa4af;
        --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; --c4: #bf3989; --c5: #7d4e00; --c6: #0f7490; --c7: #57606a;
        --c8: #cf222e; --c9: #3b5b00; --c10: #00695c }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #f0f6fc; --faint: #30363d; --muted: #9198a1; --peer: #656d76;
          --c0: #58a6ff; --c1: #f0883e; --c2: #56d364; --c3: #bc8cff; --c4: #f778ba; --c5: #d4a72c; --c6: #39c5cf; --c7: #b1bac4;
          --c8: #ff7b72; --c9: #a5d63f; --c10: #7ee0c8 }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--ink) }
  .muted { fill: var(--muted) } .title { font-weight: 600; font-size: 15px }
  .grid { stroke: var(--faint) } .line { fill: none; stroke-width: 2 } .guide { stroke: var(--muted); stroke-dasharray: 4 4 }`;
const COLOURS = 11;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const text = (x: number, y: number, words: string, attributes = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped(words)}</text>`;

/** Where the charts of a run are written, and the commit and machine that they name. */
export interface ChartTarget {
  readonly folder: string;
  readonly source: string;
}

export interface Titles {
  readonly title: string;
  /** How to read the chart. */
  readonly subtitle: string;
  /** What was measured, and where. */
  readonly source: string;
}

const SOURCE_HEIGHT = 26;

function picture(
  contentHeight: number,
  { title, subtitle, source }: Titles,
  content: readonly string[],
): string {
  const height = contentHeight + SOURCE_HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
<rect width="${WIDTH}" height="${height}" fill="var(--ground)"/>
${text(16, 26, title, 'class="title"')}
${text(16, 46, subtitle, 'class="muted"')}
${content.join("\n")}
${text(16, height - 12, source, 'class="muted"')}
</svg>
`;
}

export interface Series {
  readonly name: string;
  /** One value for each x, all positive. */
  readonly values: readonly number[];
}

/**
 * Lines on logarithmic axes, each divided by its first value, so that operations of any unit are comparable: a line that
 * is level does not depend on x, and one that follows the dashed line is proportional to it.
 */
export function growthChart(titles: Titles, xs: readonly number[], series: readonly Series[]): string {
  const [left, right, top, bottom] = [56, 270, 66, 40];
  const height = Math.max(420, top + bottom + series.length * LINE_HEIGHT);
  const [first = 1, last = 1] = [xs[0], xs.at(-1)];
  const relative = series.map(({ name, values }) => ({
    name,
    values: values.map((v) => v / (values[0] ?? 1)),
  }));
  const all = relative.flatMap(({ values }) => values);
  const decades = (value: number, round: (n: number) => number) => 10 ** round(Math.log10(value));
  const min = Math.min(0.5, ...all) / 1.2;
  const max = Math.max(last / first, ...all) * 1.2;
  const x = (value: number) =>
    left + ((WIDTH - left - right) * Math.log(value / first)) / Math.log(last / first);
  const y = (value: number) =>
    height - bottom - ((height - top - bottom) * Math.log(value / min)) / Math.log(max / min);
  const content: string[] = [];
  for (const value of xs) {
    content.push(`<path class="grid" d="M${x(value)} ${top}V${height - bottom}"/>`);
    const words = value >= 1_000_000 ? `${value / 1_000_000}M` : `${Math.round(value / 1000)}k`;
    content.push(text(x(value), height - bottom + 20, words, 'class="muted" text-anchor="middle"'));
  }
  for (let value = decades(min, Math.ceil); value <= max; value *= 10) {
    content.push(`<path class="grid" d="M${left} ${y(value)}H${WIDTH - right}"/>`);
    content.push(text(left - 8, y(value) + 4, `${value}×`, 'class="muted" text-anchor="end"'));
  }
  content.push(`<path class="guide" d="M${x(first)} ${y(1)}L${x(last)} ${y(last / first)}"/>`);
  const labels = relative
    .map(({ name, values }, i) => ({ name, colour: i % COLOURS, at: y(values.at(-1) ?? 1) }))
    .sort((a, b) => a.at - b.at);
  let free = top;
  const places = labels.map(({ at }) => {
    const place = Math.max(at, free);
    free = place + LINE_HEIGHT;
    return place;
  });
  // Labels that would be below the axis move up, and so do those above them.
  for (let i = places.length - 1, limit = height - bottom; i >= 0; i--, limit -= LINE_HEIGHT)
    places[i] = Math.min(places[i] ?? limit, limit);
  for (const [i, { values }] of relative.entries()) {
    const points = values.map((value, at) => `${x(xs[at] ?? first).toFixed(1)} ${y(value).toFixed(1)}`);
    content.push(`<path class="line" stroke="var(--c${i % COLOURS})" d="M${points.join("L")}"/>`);
  }
  for (const [i, { name, colour, at }] of labels.entries()) {
    const place = places[i] ?? at;
    const end = WIDTH - right;
    content.push(
      `<path stroke="var(--c${colour})" d="M${end} ${at.toFixed(1)}L${end + 14} ${place.toFixed(1)}"/>`,
    );
    content.push(text(end + 18, place + 4, name, `style="fill: var(--c${colour})"`));
  }
  return picture(height, titles, content);
}

export interface Bars {
  readonly name: string;
  readonly ours: number;
  readonly peer: number;
  readonly words: string;
}

/** For each case our bar above that of the peer, both as a share of the longer one: the shorter is the better. */
export function barChart(titles: Titles, bars: readonly Bars[]): string {
  const [left, right, top, step] = [270, 190, 66, 34];
  const length = WIDTH - left - right;
  const content = bars.flatMap(({ name, ours, peer, words }, i) => {
    const y = top + i * step;
    const longest = Math.max(ours, peer);
    const bar = (value: number, at: number, fill: string) =>
      `<rect x="${left}" y="${at}" width="${((length * value) / longest).toFixed(1)}" height="11" fill="var(${fill})"/>`;
    return [
      text(left - 10, y + 16, name, 'text-anchor="end"'),
      bar(ours, y, "--c0"),
      bar(peer, y + 12, "--peer"),
      text(left + length + 10, y + 16, words, 'class="muted"'),
    ];
  });
  return picture(top + bars.length * step, titles, content);
}
