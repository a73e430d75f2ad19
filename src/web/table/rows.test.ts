import { expect, test } from "bun:test";
import type { NetworkEntity } from "../data/page-network.ts";
import { MAX_PRINTED_ROWS, nextPrintStep, printedRowsText, type Rows } from "./rows.ts";

const rows = (length: number, more: Partial<Rows> = {}): Rows => ({
  list: Array.from<NetworkEntity>({ length }),
  loading: false,
  hasMore: false,
  total: undefined,
  fault: undefined,
  ...more,
});

test("printing waits for rows, loads more up to the maximum, and ends with the fault of the service", () => {
  expect(nextPrintStep(rows(3))).toBe("print");
  expect(nextPrintStep(rows(200, { hasMore: true, loading: true, fault: "busy" }))).toBe("wait");
  expect(nextPrintStep(rows(200, { hasMore: true }))).toBe("load");
  expect(nextPrintStep(rows(MAX_PRINTED_ROWS, { hasMore: true }))).toBe("print");
  expect(nextPrintStep(rows(200, { hasMore: true, fault: "busy" }))).toEqual({ fault: "busy" });
  expect(nextPrintStep(rows(0, { fault: "unknown parameter" }))).toEqual({ fault: "unknown parameter" });
});

test("the paper says which rows are not on it", () => {
  expect(printedRowsText(rows(MAX_PRINTED_ROWS))).toBeUndefined();
  expect(printedRowsText(rows(30_000))).toBe(
    "The first 10,000 rows of 30,000. Filter or sort to print others.",
  );
  expect(printedRowsText(rows(200, { hasMore: true, total: 1234 }))).toBe(
    "The first 200 rows of 1,234. Filter or sort to print others.",
  );
  expect(printedRowsText(rows(100_000, { hasMore: true }))).toBe(
    "The first 10,000 rows. Filter or sort to print others.",
  );
});
