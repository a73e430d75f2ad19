/**
 * A server of the Model Context Protocol (https://modelcontextprotocol.io) on standard input and output: one JSON-RPC 2.0
 * message a line. It has tools, and neither prompts nor resources. It is our own code, because the official SDK would have to
 * be bundled for every way of installing the program (docs/decisions/0018-own-mcp-server.md); the SDK's client tests it. It
 * speaks the current version, in which every request stands alone, and the earlier ones with a session.
 *
 * Calls run at the same time and are answered in the order in which they end. A call whose input does not match the schema,
 * or that fails for a reason that the caller can change, has a result with `isError`, which the model reads.
 */
import Type from "typebox";
import Value from "typebox/value";
import { isRecord } from "../lib/is-record.ts";
import { completeLines, jsonLine } from "../lib/json-lines.ts";
import { findSchemaFaults, formatPath } from "../lib/schema-faults.ts";
import { CommandFailure, type Context } from "./command.ts";

/** The versions that begin with `initialize`, newest first. For a server that has only tools their messages are the same. */
const SESSION_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** The version without a beginning: each request names it, and `server/discover` tells what `initialize` did. */
const STATELESS_VERSION = "2026-07-28";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const SERVER_KEY = "io.modelcontextprotocol/serverInfo";
/** What a client may keep: the tools do not change while the program runs, and are the same for all users. */
const CACHE_HINT = { ttlMs: 3_600_000, cacheScope: "public" } as const;

/** While so many calls are under way, no further message is read. */
const MAX_CALLS = 16;

const ERROR_CODES = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  version: -32022,
} as const;

const RequestId = Type.Union([Type.String(), Type.Number()]);
type RequestId = Type.Static<typeof RequestId>;
/** A request, or without an id a notification. */
const Message = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Optional(RequestId),
  method: Type.String(),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
type Message = Type.Static<typeof Message>;

export interface McpTool {
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  readonly input: Type.TObject;
  /** Throws a CommandFailure for the caller; anything else is a bug. */
  call(input: unknown): Promise<string>;
}

/** Checks the input of a call before `call` receives it. */
export const createTool = <S extends Type.TObject>(
  tool: Omit<McpTool, "input" | "call"> & {
    readonly input: S;
    call(input: Type.Static<S>): Promise<string>;
  },
): McpTool => ({
  ...tool,
  async call(input) {
    if (Value.Check(tool.input, input)) return tool.call(input);
    const faults = findSchemaFaults(tool.input, input);
    throw new CommandFailure(faults.map(({ path, message }) => `${formatPath(path)}: ${message}`).join("; "));
  },
});

export interface McpServerOptions {
  readonly version: string;
  /** What a model should know before it calls the tools. */
  readonly instructions: string;
  readonly tools: readonly McpTool[];
}

/** The error of a request that is not a valid call. */
class RequestError extends Error {
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: keyof typeof ERROR_CODES, message: string, data?: object) {
    super(message);
    this.code = ERROR_CODES[code];
    this.data = data;
  }
}

/** Serves until standard input ends and all calls are answered. */
export async function serveMcp(
  { stdin, out, err }: Pick<Context, "stdin" | "out" | "err">,
  options: McpServerOptions,
): Promise<void> {
  /** The calls under way. A cancelled one is removed, and is not answered. */
  const calls = new Map<RequestId, Promise<void>>();
  const send = (message: object) => out(jsonLine({ jsonrpc: "2.0", ...message }));

  async function answer(
    id: RequestId,
    { method, params = {} }: Message,
    isWanted = () => true,
  ): Promise<void> {
    try {
      const result = await resultOf(method, params, options);
      if (isWanted()) await send({ id, result });
    } catch (error) {
      const isBug = !(error instanceof RequestError);
      if (isBug) await err(`gazetteer mcp: internal error, please report it: ${Bun.inspect(error)}\n`);
      const { code, message, data } = isBug ? new RequestError("internal", "internal error") : error;
      if (isWanted()) await send({ id, error: { code, message, data } });
    }
  }

  for await (const line of completeLines(stdin.stream())) {
    const message = parseMessage(line);
    if (message === undefined) continue;
    if (message instanceof RequestError) {
      await send({ error: { code: message.code, message: message.message } });
      continue;
    }
    const { id, method, params } = message;
    if (id === undefined) {
      const cancelled = method === "notifications/cancelled" ? params?.requestId : undefined;
      if (Value.Check(RequestId, cancelled)) calls.delete(cancelled);
    } else if (method === "tools/call") {
      const call: Promise<void> = answer(id, message, () => calls.get(id) === call).finally(() => {
        if (calls.get(id) === call) calls.delete(id);
      });
      calls.set(id, call);
      if (calls.size >= MAX_CALLS) await Promise.race(calls.values());
    } else await answer(id, message);
  }
  await Promise.all(calls.values());
}

/** Returns undefined for what needs no answer: an empty line, or a response, because this server sends no requests. */
function parseMessage(line: string): Message | RequestError | undefined {
  if (line.trim() === "") return undefined;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return new RequestError("parse", "the line is not JSON");
  }
  if (Value.Check(Message, message)) return message;
  if (isRecord(message) && ("result" in message || "error" in message)) return undefined;
  return new RequestError("request", "the line is not a JSON-RPC 2.0 request or notification");
}

async function resultOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: McpServerOptions,
): Promise<object> {
  const version = isRecord(params._meta) ? params._meta[VERSION_KEY] : undefined;
  if (version === undefined) return resultOfMethod(method, params, options);
  if (version !== STATELESS_VERSION)
    throw new RequestError("version", `the version ${JSON.stringify(version)} is not supported`, {
      supported: [STATELESS_VERSION],
      requested: version,
    });
  const result = await resultOfMethod(method, params, options);
  return { ...result, resultType: "complete", _meta: { [SERVER_KEY]: serverInfo(options) } };
}

const serverInfo = ({ version }: McpServerOptions) => ({ name: "gazetteer", title: "Gazetteer", version });

async function resultOfMethod(
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: McpServerOptions,
): Promise<object> {
  const { instructions, tools } = options;
  const capabilities = { tools: {} };
  switch (method) {
    case "initialize":
      return {
        // A client that does not know the offered version disconnects.
        protocolVersion:
          SESSION_VERSIONS.find((known) => known === params.protocolVersion) ?? SESSION_VERSIONS[0],
        capabilities,
        serverInfo: serverInfo(options),
        instructions,
      };
    case "server/discover":
      return { supportedVersions: [STATELESS_VERSION], capabilities, instructions, ...CACHE_HINT };
    case "ping":
      return {};
    case "tools/list":
      return { tools: tools.map(describeTool), ...CACHE_HINT };
    case "tools/call":
      return callTool(
        tools.find(({ name }) => name === params.name),
        params,
      );
    default:
      throw new RequestError("method", `there is no method ${JSON.stringify(method)}`);
  }
}

const describeTool = ({ name, title, description, input }: McpTool) => ({
  name,
  title,
  description,
  inputSchema: input,
  annotations: { readOnlyHint: true, openWorldHint: false },
});

async function callTool(
  tool: McpTool | undefined,
  params: Readonly<Record<string, unknown>>,
): Promise<object> {
  if (!tool) throw new RequestError("params", `there is no tool ${JSON.stringify(params.name)}`);
  try {
    return { content: [{ type: "text", text: await tool.call(params.arguments ?? {}) }] };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
}
