import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runToEnd } from "../../../lib/steps.ts";
import { spanningForest, type TreeEdge } from "./spanning-tree.ts";

const edge = (id: string, a: string, b: string, state: Partial<TreeEdge> = {}): TreeEdge => ({
  id,
  a,
  b,
  open: false,
  unreachable: false,
  ...state,
});

const forest = (edges: readonly TreeEdge[]): ReadonlySet<string> => runToEnd(spanningForest(edges)).chosen;

function components(nodes: readonly string[], edges: readonly TreeEdge[]): number {
  const group = new Map(nodes.map((node) => [node, node]));
  const root = (node: string): string => {
    const up = group.get(node) ?? node;
    return up === node ? node : root(up);
  };
  for (const { a, b } of edges) group.set(root(a), root(b));
  return new Set(nodes.map(root)).size;
}

describe("the spanning forest", () => {
  const nodes = ["a", "b", "c", "d", "e", "f"];
  const anyEdges = fc
    .array(fc.record({ a: fc.constantFrom(...nodes), b: fc.constantFrom(...nodes), open: fc.boolean() }))
    .map((list) => list.map(({ a, b, open }, i) => edge(String(i), a, b, { open })));

  test("connects what the graph connects, without a loop", () => {
    fc.assert(
      fc.property(anyEdges, (edges) => {
        const chosen = forest(edges);
        const tree = edges.filter(({ id }) => chosen.has(id));
        expect(components(nodes, tree)).toBe(components(nodes, edges));
        expect(tree.length).toBe(nodes.length - components(nodes, edges));
      }),
    );
  });

  test("keeps its edges when a link is added", () => {
    fc.assert(
      fc.property(anyEdges, fc.constantFrom(...nodes), fc.constantFrom(...nodes), (edges, a, b) => {
        const before = forest(edges);
        const current = edges.map((one) => ({ ...one, open: before.has(one.id) }));
        const after = forest([...current, edge("new", a, b)]);
        expect(before.isSubsetOf(after)).toBe(true);
      }),
    );
  });
});

test("an unreachable open link is chosen, an unreachable closed one is not", () => {
  const ring = [
    edge("ab", "a", "b"),
    edge("bc", "b", "c", { unreachable: true, open: true }),
    edge("ca", "c", "a", { unreachable: true, open: true }),
  ];
  expect([...forest(ring)].sort()).toEqual(["bc", "ca"]);
  expect([...forest([edge("ab", "a", "b", { unreachable: true })])]).toEqual([]);
});

test("a new network gets a shallow tree", () => {
  const ids = ["1", "2", "3", "4", "5"];
  const mesh = ids.flatMap((a) => ids.filter((b) => b > a).map((b) => edge(`${a}${b}`, a, b)));
  expect([...forest(mesh)].sort()).toEqual(["12", "13", "14", "15"]);
});
