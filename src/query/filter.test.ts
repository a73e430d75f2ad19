import { expect, test } from "bun:test";
import { host } from "../../test/support/sample-network.ts";
import { matchesAll, textFilter } from "./filter.ts";

const printer = host(
  "02:00:00:00:AB:03",
  { device: "of:0000000000000001", port: "3" },
  {
    ipAddresses: ["10.0.7.20", "2001:db8::7"],
    annotations: { name: "Printer hall-2" },
  },
);

test.each([
  ["printer", true],
  ["hall-2 PRINTER", true],
  ["printer hall-3", false],
  ["all-2", true],
  ["02:00:00:00:ab:03", true],
  ["0200.0000.AB03", true],
  ["02-00-00-00-ab-04", false],
  ["10.0.7.0/24", true],
  ["10.0.8.0/24", false],
  ["10.0.7.20", true],
  ["2001:DB8:0::7", true],
  ["2001:db8::/32", true],
])("the text %p: %p", (text, matches) => {
  const filter = textFilter(text);
  expect(filter.matches(printer)).toBe(matches);
  // The hints of the filter miss nothing.
  expect(matchesAll("hosts", JSON.stringify(printer), [filter])).toBe(matches);
});
