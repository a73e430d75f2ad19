import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BodySkipper } from "./body-skipper.ts";
import { type BodyLength, ParseError } from "./request.ts";

/** The bytes behind the body, or the error; pushed piece by piece. */
function after(length: BodyLength, pieces: readonly string[]): string | ParseError | "more" {
  const skipper = new BodySkipper(length, 1_000_000, 10_000);
  let rest = "";
  for (const piece of pieces) {
    let left: Buffer | ParseError = Buffer.from(piece, "latin1");
    // One call skips a bounded number of lines.
    while (!skipper.done && left.length > 0) {
      left = skipper.skip(left);
      if (left instanceof ParseError) return left;
    }
    rest += left.toString("latin1");
  }
  return skipper.done ? rest : "more";
}

const cut = (text: string, at: readonly number[]): string[] => {
  const cuts = [0, ...at.map((n) => n % (text.length + 1)).sort((a, b) => a - b), text.length];
  return cuts.slice(1).map((end, i) => text.slice(cuts[i], end));
};

test("a body with a Content-Length ends after that many bytes", () => {
  expect(after(5, ["hello"])).toBe("");
  expect(after(5, ["helloGET"])).toBe("GET");
  expect(after(5, ["he", "l", "loGET"])).toBe("GET");
  expect(after(5, ["hell"])).toBe("more");
});

describe("chunks", () => {
  test.each([
    "0\r\n\r\n",
    "000\r\n\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
    "5;x=y\r\nhello\r\n0;z\r\n\r\n",
    '5 ; x="a;b"\r\nhello\r\n0\r\n\r\n',
    "5;\r\nhello\r\n0\r\n\r\n",
    "0\r\nX-Sum: 1\r\nY:\r\n\r\n",
    "4\r\n\r\n\r\n\r\n0\r\n\r\n",
  ])("%p", (body) => {
    expect(after("chunked", [`${body}GET`])).toBe("GET");
    expect(after("chunked", [...`${body}GET`])).toBe("GET");
    expect(after("chunked", [body.slice(0, -1)])).toBe("more");
  });

  test.each([
    "\r\n",
    " 5\r\nhello\r\n",
    "5 \r\nhello\r\n",
    "\t5\r\nhello\r\n",
    "5\x0b\r\nhello\r\n",
    "0x5\r\nhello\r\n",
    "+5\r\nhello\r\n",
    "-5\r\nhello\r\n",
    "-0\r\n\r\n",
    "5g\r\nhello\r\n",
    "5,5\r\nhello\r\n",
    "5.0\r\nhello\r\n",
    "5 5\r\nhello\r\n",
    "five\r\nhello\r\n",
    "1000000000000\r\nhello",
    "ffffffffffffffff5\r\nhello\r\n",
    "10000000000000005\r\nhello\r\n",
    "5\nhello\r\n",
    "5\rhello\r\n",
    "5\r\r\nhello\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello\r0\r\n\r\n",
    "5\r\nhello!\r\n0\r\n\r\n",
    "5;x=\x00\r\nhello\r\n",
    "5;x=\r\r\nhello\r\n",
    "5;x\nhello\r\n",
    "0\r\n\n",
    "0\n\r\n",
    "0\r\nX: y\n\r\n",
    "0\r\nX: a\rb\r\n\r\n",
    "0\r\nGET / HTTP/1.1\r\n\r\n",
    "0\r\n X: y\r\n\r\n",
    `5;${"x".repeat(5000)}\r\nhello\r\n`,
    `0\r\nX: ${"y".repeat(5000)}\r\n\r\n`,
    "0".repeat(5000),
  ])("%p is refused", (body) => {
    expect(after("chunked", [body])).toBeInstanceOf(ParseError);
    expect(after("chunked", [...body])).toBeInstanceOf(ParseError);
  });

  test("any chunked body, cut anywhere, ends at its last chunk", () => {
    const chunk = fc.tuple(fc.string({ minLength: 1, unit: "binary-ascii" }), fc.boolean());
    fc.assert(
      fc.property(
        fc.array(chunk),
        fc.array(fc.nat()),
        fc.string({ unit: "binary-ascii" }),
        (chunks, at, rest) => {
          const body = chunks.map(([data, upper]) => {
            const size = data.length.toString(16);
            return `${upper ? size.toUpperCase() : size}\r\n${data}\r\n`;
          });
          expect(after("chunked", cut(`${body.join("")}0\r\n\r\n${rest}`, at))).toBe(rest);
        },
      ),
    );
  });
});

test("a body is skipped up to its bound, framing included, wherever it is cut", () => {
  const body = fc.array(fc.string({ minLength: 1, unit: "binary-ascii" }), { maxLength: 5 }).map((chunks) => {
    const framed = chunks.map((data) => `${data.length.toString(16)}\r\n${data}\r\n`);
    return `${framed.join("")}0\r\nX: y\r\n\r\n`;
  });
  fc.assert(
    fc.property(body, fc.nat({ max: 60 }), fc.array(fc.nat()), (text, maxBytes, at) => {
      const skipper = new BodySkipper("chunked", maxBytes, 100);
      let rest = 0;
      for (const piece of cut(text, at)) {
        const left = skipper.skip(Buffer.from(piece, "latin1"));
        expect(left).not.toBeInstanceOf(ParseError);
        rest += left instanceof ParseError ? 0 : left.length;
      }
      expect(skipper.exceeded).toBe(text.length > maxBytes);
      expect(skipper.done).toBe(text.length <= maxBytes);
      expect(rest).toBe(Math.max(0, text.length - maxBytes));
    }),
  );
});

test("one call parses a bounded number of lines", () => {
  const skipper = new BodySkipper("chunked", 1_000_000, 100);
  const chunks = Buffer.from("1\r\nx\r\n".repeat(1_000));
  const left = skipper.skip(chunks);
  // 256 lines are 128 chunks.
  expect(left).toHaveLength(chunks.length - 128 * 6);
});
