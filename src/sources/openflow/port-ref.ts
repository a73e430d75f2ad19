/** How a port number of the wire is spelled in the model. */
import { PORT } from "./codec/instruction.ts";

export const portText = (port: number): string => (port === PORT.local ? "local" : String(port));

/** Ports with a wire or a stack behind them; the other reserved numbers are words of the protocol. */
export const isRealPort = (port: number): boolean => (port > 0 && port <= PORT.max) || port === PORT.local;

export const isWiredPort = (port: number): boolean => port > 0 && port <= PORT.max;
