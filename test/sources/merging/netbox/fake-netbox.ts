/** A NetBox that answers with the pages of answers.json to who sends the right token. */
import answers from "./answers.json";

type Answers = Pick<typeof answers, "devices" | "interfaces">;

export class FakeNetbox {
  readonly requests: { path: string; authorization: string | null }[] = [];
  isDown = false;
  readonly #authorization: string;
  readonly #answers: Answers;
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => this.#respond(request),
  });

  /** `authorization` is the header that it accepts. By default `next` names another server, where nobody should follow it. */
  constructor(authorization: string, pages: Answers = answers) {
    this.#authorization = authorization;
    this.#answers = pages;
  }

  get url(): string {
    return this.#server.url.origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }

  #respond(request: Request): Response {
    const { pathname, search, searchParams } = new URL(request.url);
    const authorization = request.headers.get("authorization");
    this.requests.push({ path: pathname + search, authorization });
    if (authorization !== this.#authorization)
      return Response.json({ detail: "Invalid token" }, { status: 403 });
    if (this.isDown) return new Response(null, { status: 502 });
    const pages = pathname.endsWith("/devices/") ? this.#answers.devices : this.#answers.interfaces;
    const offset = Number(searchParams.get("offset") ?? 0);
    const sizes = pages.map(({ results }) => results.length);
    const index = sizes.findIndex(
      (_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0) === offset,
    );
    return Response.json(pages[index] ?? null);
  }
}
