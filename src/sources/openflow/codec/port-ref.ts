/** A port of a datapath by number, and the form of port numbers in the model. */
import { portId } from "../../../model/ids.ts";
import { PORT } from "./instruction.ts";

/** Like the model's `ConnectPoint`, but with the port number of the OpenFlow protocol. */
export interface PortRef {
  readonly device: string;
  readonly port: number;
}

export const portText = (port: number): string => (port === PORT.local ? "local" : String(port));

/** The port's id in the model; also the key under which maps hold the port. */
export const portKey = ({ device, port }: PortRef): string => portId(device, portText(port));

/** A physical port or the switch's local port. The other reserved numbers are not ports but actions. */
export const isRealPort = (port: number): boolean => (port > 0 && port <= PORT.max) || port === PORT.local;

export const isWiredPort = (port: number): boolean => port > 0 && port <= PORT.max;
