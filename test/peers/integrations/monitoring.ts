/** What the tests of Prometheus and Grafana share: the files of packaging/, and the metrics that are documented. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
export const RULES_FILE = join(ROOT, "packaging/prometheus/gazetteer.rules.yml");
const DASHBOARD_FILE = join(ROOT, "packaging/grafana/gazetteer.json");
const INTEGRATIONS_PAGE = join(ROOT, "docs/integrations.md");

/** The names of the table of metrics in the documentation, and those that Prometheus has by itself. */
export function documentedMetrics(): ReadonlySet<string> {
  const pages = [...new Bun.Glob("docs/*.md").scanSync(ROOT)].map((page) =>
    readFileSync(join(ROOT, page), "utf8"),
  );
  const rows = pages.flatMap((text) => text.match(/^\| `(gazetteer|process)_[^|]*\|/gm) ?? []);
  return new Set(["up", ...rows.flatMap((row) => row.match(/[a-z_]+/g) ?? [])]);
}

/** The names of metrics in a PromQL expression; those of a histogram without the ending of their parts. */
export const metricsIn = (expr: string): string[] =>
  (expr.match(/\b(gazetteer_\w+|process_\w+|up)\b/g) ?? []).map((name) => name.replace(/_bucket$/, ""));

/** The YAML block of docs/integrations.md that follows the comment with this name. */
export function documentedBlock(name: string): string {
  const page = readFileSync(INTEGRATIONS_PAGE, "utf8");
  const block = new RegExp(`<!-- ${RegExp.escape(name)} .*-->\n\`\`\`yaml\n([^]*?)\n\`\`\``).exec(page)?.[1];
  if (block === undefined) throw new Error(`docs/integrations.md has no block ${name}`);
  return block;
}

interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

export const readDashboard = (): Dashboard => JSON.parse(readFileSync(DASHBOARD_FILE, "utf8"));
