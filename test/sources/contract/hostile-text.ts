/** Whether a service that has read hostile text shows it safely in every format, with the parsers of others where there are. */
import { expect } from "bun:test";
import { until } from "../../support/until.ts";
import { API, type ContractService } from "./harness.ts";
import { HOSTILE_MARKUP } from "./row.ts";

/** Formats in which markup must not appear as it is. */
const MARKUP_FORMATS = ["graphml", "svg"];

export async function expectEscaped(gazetteer: ContractService, device: string): Promise<void> {
  const path = `${API}/devices/${encodeURIComponent(device)}`;
  await until(async () => JSON.stringify(await gazetteer.json(path)).includes(HOSTILE_MARKUP), {
    what: `the hostile text in ${device}`,
  });
  for (const kind of ["devices", "links", "hosts"]) {
    const records = (await gazetteer.json(`${API}/${kind}`))[kind];
    const count = Array.isArray(records) ? records.length : Number.NaN;
    const ndjson = await gazetteer.text(`${API}/${kind}?format=ndjson`);
    expect(ndjson.trim().split("\n").filter(Boolean).map(parse)).toHaveLength(count);
    const rows = parseCsv(await gazetteer.text(`${API}/${kind}?format=csv`));
    expect(rows).toHaveLength(count + 1);
    expect(new Set(rows.map((cells) => cells.length)).size).toBe(1);
  }
  for (const format of MARKUP_FORMATS) {
    const document = await gazetteer.text(`${API}/topology?format=${format}`);
    expect(document).not.toContain("<script");
    await expectAccepted(["xmllint", "--noout", "-"], document);
  }
  await expectAccepted(["dot", "-Tcanon"], await gazetteer.text(`${API}/topology?format=dot`));
  // The page has no data in its document: it reads the same JSON.
  expect(await gazetteer.text("/")).not.toContain(HOSTILE_MARKUP);
  const metrics = (await gazetteer.text("/metrics")).split("\n");
  expect(metrics.filter((line) => !/^(#.*|[a-z_]+(\{.*\})? \S+|)$/.test(line))).toEqual([]);
  expect(gazetteer.service.stderr()).not.toMatch(/[\u0007\u001b\u202e]/);
}

const parse = (line: string): unknown => JSON.parse(line);

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end !== ",") rows.push([]);
  }
  return rows.filter((cells) => cells.length > 1);
}

/** Where the program is installed. */
async function expectAccepted(command: string[], document: string): Promise<void> {
  if (Bun.which(command[0] ?? "") === null) return;
  const child = Bun.spawn(command, {
    stdin: new TextEncoder().encode(document),
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await new Response(child.stderr).text();
  expect({ status: await child.exited, errors }).toEqual({ status: 0, errors: "" });
}
