/** Other HTTP clients: Node, curl, Python, and nginx as a reverse proxy. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { API, AUTHORIZATION, CREDENTIALS, type Harness, openHarness } from "../api/harness.ts";
import { SAMPLE } from "../api/network.ts";
import { temporaryFolder } from "../support/folder.ts";
import { needs } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { openStreams } from "./strict-client.ts";

let h: Harness;
beforeAll(async () => {
  h = await openHarness();
  await h.replace(SAMPLE);
});
afterAll(() => h.stop());

async function run(command: string[], input = ""): Promise<string> {
  const child = Bun.spawn(command, {
    stdin: new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`${command.join(" ")}: ${status}\n${out}${err}`);
  return out;
}

describe.skipIf(!needs("curl"))("curl", () => {
  const curl = (...args: string[]) =>
    run(["curl", "-sS", "--max-time", "20", "-u", CREDENTIALS, ...args, `${h.url}${API}/devices`]);

  test.each([
    "--http1.1",
    "--http1.0",
    "--http2",
    "--compressed",
    "-H Connection:close",
    "-X GET --data {}",
    "-X GET -H Transfer-Encoding:chunked --data {}",
    "-X GET -H Expect:100-continue --data {}",
    `--request-target http://elsewhere${API}/devices`,
  ])("%s: the same list", async (args) => {
    expect(await curl(...args.split(" "))).toBe(await (await h.fetch("devices")).text());
  });

  test("several requests on one connection, HEAD among them", async () => {
    const urls = ["devices", "hosts", "nothing", "links"].map((path) => `${h.url}${API}/${path}`);
    const format = ["-w", "%{num_connects} %{http_code} ", "-o", "/dev/null"];
    const each = urls.flatMap((url) => [...format, url]);
    expect(await run(["curl", "-sS", "-u", CREDENTIALS, ...each])).toBe("1 200 0 200 0 404 0 200 ");
    expect(await run(["curl", "-sSI", "-u", CREDENTIALS, ...each])).toBe("1 200 0 200 0 404 0 200 ");
  });

  test("a large request body gets 405, also while it is being sent", async () => {
    const file = join(temporaryFolder(), "large");
    writeFileSync(file, Buffer.alloc(4_000_000));
    const url = `${h.url}${API}/devices`;
    const code = ["-w", "%{http_code} ", "-o", "/dev/null"];
    const upload = [...code, "--data-binary", `@${file}`, url];
    expect(
      await run([
        "curl",
        "-sS",
        "-u",
        CREDENTIALS,
        ...upload,
        "--next",
        "-sS",
        "-u",
        CREDENTIALS,
        ...code,
        url,
      ]),
    ).toBe("405 200 ");
  });

  test("an event stream, as long as it is read", async () => {
    const child = Bun.spawn(["curl", "-sSN", "-u", CREDENTIALS, `${h.url}${API}/devices?format=events`], {
      stdout: "pipe",
    });
    let text = "";
    for await (const part of child.stdout) {
      text += new TextDecoder().decode(part);
      if (text.includes("event: synced")) break;
    }
    child.kill();
    await child.exited;
    await until(async () => (await openStreams(h)) === 0, { what: "the stream to be gone" });
  });
});

const NODE = `
import http from "node:http";
const [port, auth] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
const sockets = new Set();
const one = (path, method) => new Promise((resolve, reject) => {
  http.request({ port, host: "127.0.0.1", path: "${API}/" + path, method, auth, agent }, (response) => {
    let size = 0;
    sockets.add(response.socket);
    response.on("data", (data) => { size += data.length; });
    response.on("end", () => resolve(response.statusCode + (size === 0 ? " empty" : "")));
    response.on("error", reject);
  }).on("error", reject).end();
});
const paths = ["devices", "topology", "nothing", "devices?format=csv"];
const all = await Promise.all(Array.from({ length: 200 }, (_, n) => one(paths[n % 4], n % 5 === 0 ? "HEAD" : "GET")));
const counts = {};
for (const one of all) counts[one] = (counts[one] ?? 0) + 1;
console.log(JSON.stringify({ sockets: sockets.size, ...counts }));
agent.destroy();
`;

test.skipIf(!needs("node"))("node's client, on two connections that stay open", async () => {
  const file = join(temporaryFolder(), "client.mjs");
  writeFileSync(file, NODE);
  expect(JSON.parse(await run(["node", file, String(h.port), CREDENTIALS]))).toEqual({
    sockets: 2,
    "200": 120,
    "200 empty": 30,
    "404": 40,
    "404 empty": 10,
  });
});

const PYTHON = `
import http.client, sys, urllib.request
port, headers = int(sys.argv[1]), {"Authorization": sys.argv[2]}
client = http.client.HTTPConnection("127.0.0.1", port)
said = []
for method, body in [("GET", None), ("HEAD", None), ("GET", b"{}"), ("GET", iter([b"ab", b"cd"])), ("DELETE", None), ("GET", None)]:
    client.request(method, "${API}/devices", headers=headers, body=body)
    response = client.getresponse()
    said.append("%d %s" % (response.status, len(response.read()) > 0))
    local = client.sock.getsockname()
    assert said[0:1] and (len(said) == 1 or local == first)
    first = local
request = urllib.request.Request("http://127.0.0.1:%d${API}/devices" % port, headers=headers)
said.append(str(urllib.request.urlopen(request).status))
print(", ".join(said))
`;

test.skipIf(!needs("python3"))("Python's client, on one connection", async () => {
  const said = await run(["python3", "-", String(h.port), AUTHORIZATION], PYTHON);
  expect(said.trim()).toBe("200 True, 200 False, 200 True, 200 True, 405 True, 200 True, 200");
});

describe.skipIf(!needs("nginx"))("nginx in front", () => {
  async function withProxy(more: string, body: (url: string) => Promise<void>): Promise<void> {
    const folder = temporaryFolder();
    const socket = join(folder, "s");
    const config = join(folder, "nginx.conf");
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${join(folder, name)};`)
      .join(" ");
    writeFileSync(
      config,
      `daemon off; pid ${join(folder, "pid")}; error_log ${join(folder, "log")}; worker_processes 1;
       events { worker_connections 256; }
       http { access_log off; client_body_buffer_size 1m; ${temporary}
         upstream service { server 127.0.0.1:${h.port}; keepalive 4; }
         server { listen unix:${socket};
           location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; ${more} } } }`,
    );
    const child = Bun.spawn(["nginx", "-c", config, "-p", folder], { stdout: "ignore", stderr: "ignore" });
    try {
      const ask = () => fetch("http://localhost/healthz", { unix: socket }).then(({ ok }) => ok);
      await until(ask, { what: "nginx" });
      await body(socket);
    } finally {
      child.kill();
      await child.exited;
    }
  }

  test.each(["", "proxy_buffering off;"])(
    "with %p: reads, refusals and streams come through",
    async (more) => {
      await withProxy(more, async (unix) => {
        const get = (path: string, init: RequestInit = {}) =>
          fetch(`http://localhost${API}/${path}`, {
            unix,
            ...init,
            headers: { authorization: AUTHORIZATION },
          });
        const expected = await (await h.fetch("devices")).text();
        const all = await Promise.all(
          Array.from({ length: 40 }, () => get("devices").then((response) => response.text())),
        );
        expect(new Set(all)).toEqual(new Set([expected]));
        expect((await get("devices", { method: "HEAD" })).status).toBe(200);
        expect((await get("nothing")).status).toBe(404);
        expect((await get("devices", { method: "POST", body: "x".repeat(200_000) })).status).toBe(405);
        const gone = new AbortController();
        const stream = await get("devices?format=events", { signal: gone.signal });
        let text = "";
        for await (const part of stream.body ?? []) {
          text += new TextDecoder().decode(part);
          if (text.includes("event: synced")) break;
        }
        gone.abort();
        await until(async () => (await openStreams(h)) === 0, { what: "the stream to be gone" });
      });
    },
  );
});
