import { expect, test } from "bun:test";
import Type from "typebox";
import { jsonLine } from "../lib/json-lines.ts";
import { createTool, serveMcp } from "./mcp-server.ts";

/** Serves `lines` with a tool that ends when the test says so. */
function serve(lines: readonly object[]) {
  const output: string[] = [];
  const errors: string[] = [];
  const running: PromiseWithResolvers<string>[] = [];
  const tool = createTool({
    name: "wait",
    title: "Wait",
    description: "Waits",
    input: Type.Object({}),
    call() {
      const call = Promise.withResolvers<string>();
      running.push(call);
      return call.promise;
    },
  });
  const context = {
    stdin: {
      isTerminal: false,
      async *stream() {
        yield new TextEncoder().encode(lines.map(jsonLine).join(""));
      },
    },
    out: async (text: string | Uint8Array) => void output.push(String(text)),
    err: async (text: string) => void errors.push(text),
  };
  const served = serveMcp(context, { version: "1", instructions: "", tools: [tool] });
  return { served, running, output, errors };
}

const call = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "wait" } });
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("at most 16 calls run at the same time; the others wait for their turn", async () => {
  const { served, running, output } = serve(Array.from({ length: 40 }, (_, n) => call(n)));
  const counts: number[] = [];
  for (let done = 0; done < 40; done++) {
    await settle();
    counts.push(running.length - done);
    running[done]?.resolve("");
  }
  await served;
  expect(Math.max(...counts)).toBe(16);
  expect(output).toHaveLength(40);
});

test("a bug of a tool is reported on standard error, and the caller learns only that there was one", async () => {
  const { served, running, output, errors } = serve([call(1), { jsonrpc: "2.0", id: 2, method: "ping" }]);
  await settle();
  running[0]?.reject(new TypeError("x is undefined"));
  await served;
  expect(output.map((line) => JSON.parse(line))).toEqual([
    { jsonrpc: "2.0", id: 2, result: {} },
    { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "internal error" } },
  ]);
  expect(errors.join("")).toContain("x is undefined");
});
