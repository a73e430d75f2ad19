/**
 * `npm run test:peers -- generators`: clients that generators make from openapi.json with their defaults. Each is compiled, and a
 * program that uses it reads lists, an item, a filtered list and paths of a running service, whose every object has a field
 * that the document does not state, as a later version may have. Needs Go, a JDK with Maven,
 * Python and Rust, and their package registries; compiling takes minutes, so `npm test` has the client for TypeScript only.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folder.ts";
import { type Service, startService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const OPENAPI_JSON = join(import.meta.dir, "../../openapi", "..", "..", "openapi.json");
const CACHE = join(process.env.GAZETTEER_PEERS ?? join(homedir(), ".cache/gazetteer-peers"), "generators");
const GENERATOR = "7.25.0";
const GENERATOR_SHA256 = "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae";
const GENERATOR_URL = `https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/${GENERATOR}/openapi-generator-cli-${GENERATOR}.jar`;
const OAPI_CODEGEN = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";
const COMPILE_TIMEOUT_MS = 10 * 60_000;
const PATH = `${process.env.PATH}:/usr/local/go/bin:${join(homedir(), ".cargo/bin")}`;

interface Generator {
  /** What must be on the PATH. */
  readonly programs: readonly string[];
  /** Makes the client in the folder, and the program that uses it. */
  generate(folder: string): Promise<void>;
  compile(folder: string): Promise<void>;
  /** The command that reads; the address, the user and the password follow. */
  readonly read: readonly string[];
}

const GENERATORS: Readonly<Record<string, Generator>> = {
  "Go, openapi-generator": {
    programs: ["java", "go"],
    async generate(folder) {
      await openapiGenerator("go", folder);
      await writeProgram("read-go.txt", join(folder, "read/main.go"));
    },
    async compile(folder) {
      await run(folder, "go", "mod", "tidy");
      await run(folder, "go", "build", "-o", "read-it", "./read");
    },
    read: ["./read-it"],
  },
  "Go, oapi-codegen": {
    programs: ["go"],
    async generate(folder) {
      await run(folder, "go", "mod", "init", "read");
      const api = await run(
        folder,
        "go",
        "run",
        OAPI_CODEGEN,
        "-package",
        "api",
        "-generate",
        "types,client",
        OPENAPI_JSON,
      );
      await Bun.write(join(folder, "api/api.go"), api);
      await writeProgram("read-oapi-codegen.txt", join(folder, "main.go"));
    },
    async compile(folder) {
      await run(folder, "go", "mod", "tidy");
      await run(folder, "go", "build", "-o", "read-it", ".");
    },
    read: ["./read-it"],
  },
  Java: {
    programs: ["java", "javac", "mvn"],
    async generate(folder) {
      await openapiGenerator("java", folder);
      await writeProgram("read-java.txt", join(folder, "Read.java"), "null");
    },
    async compile(folder) {
      const classpath = "dependency:build-classpath";
      await run(folder, "mvn", "-q", "-B", "compile", classpath, "-Dmdep.outputFile=classpath.txt");
    },
    read: ["sh", "-c", 'exec java -cp "target/classes:$(cat classpath.txt)" Read.java "$@"', "read"],
  },
  Python: {
    programs: ["java", "python3"],
    async generate(folder) {
      await openapiGenerator("python", folder);
      await writeProgram("read-python.txt", join(folder, "read.py"));
    },
    async compile(folder) {
      await run(folder, "python3", "-m", "venv", "venv");
      await run(folder, "venv/bin/pip", "install", "-q", "--disable-pip-version-check", ".");
    },
    read: ["venv/bin/python", "read.py"],
  },
  Rust: {
    programs: ["java", "cargo"],
    async generate(folder) {
      await openapiGenerator("rust", join(folder, "client"));
      const dependencies =
        'openapi = { path = "client" }\ntokio = { version = "1", features = ["rt", "macros"] }\n';
      await Bun.write(
        join(folder, "Cargo.toml"),
        `[package]\nname = "read"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n${dependencies}`,
      );
      await writeProgram("read-rust.txt", join(folder, "src/main.rs"), "None");
    },
    compile: (folder) =>
      run(folder, "cargo", "build", "-q", "--target-dir", join(CACHE, "rust-target")).then(() => {}),
    read: [join(CACHE, "rust-target/debug/read")],
  },
};

const device = (id: string, type: string, available = true) => ({ id, type, available });
const end = (id: string, port: string) => ({ device: id, port });
const NETWORK = {
  devices: [
    device("of:000000000000000a", "SWITCH"),
    device("of:000000000000000b", "ROUTER"),
    device("of:000000000000000c", "SERVER"),
    device("of:000000000000000d", "SWITCH", false),
  ],
  links: [
    { src: end("of:000000000000000a", "1"), dst: end("of:000000000000000b", "1") },
    { src: end("of:000000000000000b", "1"), dst: end("of:000000000000000a", "1") },
  ],
  hosts: [{ mac: "00:00:00:00:00:01", locations: [{ elementId: "of:000000000000000b", port: "2" }] }],
};

let service: Service;
/** The service with an addition to every object. */
let later: ReturnType<typeof serveLaterVersion>;
beforeAll(async () => {
  const file = join(temporaryFolder(), "network.json");
  await Bun.write(file, JSON.stringify(NETWORK));
  service = await startService({ args: ["--file", file, "--data", ":memory:"] });
  const hasNetwork = async () =>
    (await (await service.fetch("/controller/v1/links")).json()).links.length > 0;
  await until(hasNetwork, { what: "the network of the file" });
  later = serveLaterVersion();
  await installGenerator();
});
afterAll(async () => {
  await later.stop(true);
  await service.stop();
});

function serveLaterVersion() {
  const extended = (_key: string, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value, later: "x" } : value;
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ url, headers }) {
      const { pathname, search } = new URL(url);
      const authorization = headers.get("authorization") ?? "";
      const response = await fetch(`${service.url}${pathname}${search}`, { headers: { authorization } });
      const contentType = response.headers.get("content-type") ?? "";
      const body = JSON.stringify(JSON.parse(await response.text(), extended));
      return new Response(body, { status: response.status, headers: { "content-type": contentType } });
    },
  });
}

for (const [name, generator] of Object.entries(GENERATORS)) {
  test(
    name,
    async () => {
      const missing = generator.programs.filter((program) => Bun.which(program, { PATH }) === null);
      expect(missing).toEqual([]);
      const folder = temporaryFolder();
      await generator.generate(folder);
      await generator.compile(folder);
      const [user = "", password = ""] = service.credentials.split(":");
      const text = await run(folder, ...generator.read, `http://127.0.0.1:${later.port}`, user, password);
      expect(JSON.parse(text)).toEqual(await expected());
      console.log(`${name}: generated, compiled, has read lists, an item, a filtered list and paths`);
    },
    COMPILE_TIMEOUT_MS,
  );
}

interface Body {
  readonly devices: { readonly id: string }[];
  readonly links: unknown[];
  readonly hosts: { readonly id: string }[];
  readonly paths: { readonly links: unknown[] }[];
  readonly time: number;
}

/** What the programs must print. */
async function expected() {
  const read = async (path: string): Promise<Body> => (await service.fetch(`/controller/v1/${path}`)).json();
  const { devices } = await read("devices");
  const { hosts } = await read("hosts");
  const [first, host] = [devices[0]?.id ?? "", hosts[0]?.id ?? ""];
  const { paths } = await read(`paths/${encodeURIComponent(host)}/${encodeURIComponent(first)}`);
  const filtered = (await read("devices?type=SWITCH,ROUTER&available=true")).devices.length;
  expect([devices.length, filtered, paths.length]).toEqual([4, 2, 1]);
  return {
    devices: devices.length,
    links: (await read("links")).links.length,
    hosts: hosts.length,
    time: (await read("topology")).time,
    item: first,
    filtered,
    paths: paths.length,
    pathLinks: paths.reduce((sum, { links }) => sum + links.length, 0),
  };
}

const jar = () => join(CACHE, `openapi-generator-cli-${GENERATOR}.jar`);

async function installGenerator(): Promise<void> {
  if (existsSync(jar())) return;
  mkdirSync(CACHE, { recursive: true });
  const response = await fetch(GENERATOR_URL);
  if (!response.ok) throw new Error(`${GENERATOR_URL}: ${response.status}`);
  const bytes = await response.bytes();
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  if (sha256 !== GENERATOR_SHA256) throw new Error(`${GENERATOR_URL} has the SHA-256 ${sha256}`);
  await Bun.write(`${jar()}.new`, bytes);
  renameSync(`${jar()}.new`, jar());
}

/** With the defaults of the generator. */
const openapiGenerator = (language: string, folder: string): Promise<string> =>
  run(import.meta.dir, "java", "-jar", jar(), "generate", "-i", OPENAPI_JSON, "-g", language, "-o", folder);

async function run(cwd: string, ...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0)
    throw new Error(`${command.join(" ")} ended with ${status}:\n${(stdout + stderr).slice(-4000)}`);
  return stdout;
}

/**
 * Where a function takes all parameters of an operation in their order, a program has `«operation | name=value»` in place of
 * them. `absent` is the value of a parameter that is not given.
 */
async function writeProgram(name: string, path: string, absent = ""): Promise<void> {
  const text = await Bun.file(join(import.meta.dir, name)).text();
  const names = await parameterNames();
  const program = text.replace(/«(\w+)([^»]*)»/g, (_, operation: string, given: string) => {
    const values = new Map(
      given
        .split(" | ")
        .slice(1)
        .map((one) => splitOnce(one)),
    );
    return (names.get(operation) ?? []).map((parameter) => values.get(parameter) ?? absent).join(", ");
  });
  await Bun.write(path, program);
}

function splitOnce(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}

interface Parameter {
  readonly name: string;
  readonly $ref?: string;
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly get: { operationId: string; parameters?: Parameter[] } }>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/** By the id of the operation. */
async function parameterNames(): Promise<Map<string, string[]>> {
  const { paths, components }: Document = await Bun.file(OPENAPI_JSON).json();
  const nameOf = ({ $ref, name }: Parameter) =>
    components.parameters[$ref?.split("/").at(-1) ?? ""]?.name ?? name;
  return new Map(
    Object.values(paths).map(({ get }) => [get.operationId, (get.parameters ?? []).map(nameOf)] as const),
  );
}
