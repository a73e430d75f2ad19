import { expect, test } from "bun:test";
import { renderFamily } from "./families.ts";
import { addMetrics, endedMetrics } from "./process-metrics.ts";

test("the metrics of several processes are added; those of an ended one without its gauges", () => {
  const one = { gazetteer_streams_open: { "": 2 }, counted: { 'read="a"': 1, 'read="b"': [1, 2, 0.5] } };
  const other = { gazetteer_streams_open: { "": 3 }, counted: { 'read="b"': [3, 4, 0.25], 'read="c"': 7 } };
  expect(addMetrics(one, other)).toEqual({
    gazetteer_streams_open: { "": 5 },
    counted: { 'read="a"': 1, 'read="b"': [4, 6, 0.75], 'read="c"': 7 },
  });
  expect(addMetrics({}, endedMetrics(one))).toEqual({ counted: one.counted });
});

test("a histogram is rendered with cumulative buckets", () => {
  const counts = [1, 2, ...Array.from({ length: 12 }, () => 0), 0.5];
  const text = renderFamily({ name: "x", type: "histogram", help: "An x." }, [['read="a"', counts]]);
  expect(text).toStartWith('# HELP x An x.\n# TYPE x histogram\nx_bucket{read="a",le="0.001"} 1\n');
  expect(text).toContain('x_bucket{read="a",le="0.0025"} 3\n');
  expect(text).toEndWith('x_bucket{read="a",le="+Inf"} 3\nx_sum{read="a"} 0.5\nx_count{read="a"} 3\n');
});
