/** Lists that other rooms keep of the interface's resources are those of its endpoints. */
import { expect, test } from "bun:test";
import { ENDPOINTS } from "../../src/api/endpoints/endpoints.ts";
import { SERVICE_ENDPOINTS } from "../../src/api/endpoints/service-endpoints.ts";
import { RESOURCES } from "../../src/cli/operands.ts";
import { OWN_RESOURCES } from "../../src/model/resources.ts";

const segmentsOf = (path: string): string[] => path.split("/").slice(1);

test("the resources that no controller can take the place of are the first segments of the endpoints", () => {
  const first = ENDPOINTS.map(({ path }) => segmentsOf(path)[0] ?? "");
  expect([...new Set(first)].toSorted()).toEqual([...OWN_RESOURCES].toSorted());
});

test("the resources of the CLI are the endpoints of one segment", () => {
  const single = ENDPOINTS.map(({ path }) => segmentsOf(path)).filter(({ length }) => length === 1);
  expect(single.flat()).toEqual([...RESOURCES]);
});

test("every endpoint has an id and a path of its own", () => {
  const documented = [
    ...ENDPOINTS,
    ...SERVICE_ENDPOINTS.flatMap(({ path, openapi }) => (openapi ? [{ path, id: openapi.id }] : [])),
  ];
  for (const field of ["id", "path"] as const)
    expect(new Set(documented.map((endpoint) => endpoint[field])).size).toBe(documented.length);
});
