import { expect, test } from "bun:test";
import { errorFromResponse } from "./client-error.ts";

const ID = "6d1f0f3c-6a5b-4a6e-9d0a-0d4f5f0a7b11";
const errorOf = (problem: object) =>
  errorFromResponse(new Response(null, { status: 500 }), JSON.stringify(problem), 0);

test("the error has the id of the request in the logs of the service", () => {
  const problem = { type: "/docs/errors#internal", detail: "The service failed." };
  expect(errorOf({ ...problem, instance: `urn:uuid:${ID}` })).toMatchObject({
    code: "internal",
    requestId: ID,
  });
  for (const instance of [undefined, 1, "/x", `urn:uuid:${ID}\n`])
    expect(errorOf({ ...problem, instance }).requestId).toBeUndefined();
});
