/** The claims of switches and their ports. */
import type { DeviceClaim, PortClaim } from "../../../model/claim.ts";
import { isRealIdentity } from "../../../model/derived-ids.ts";
import { isFiber, isUp, speedMbps } from "../codec/port.ts";
import { portText } from "../codec/port-ref.ts";
import type { OpenflowSettings } from "../options.ts";
import type { Session } from "../session/session.ts";
import type { Switch, SwitchPort } from "./switch.ts";

export function deviceClaim(
  { id, conflict }: Switch,
  session: Session,
  forwarding: OpenflowSettings["forwarding"],
): DeviceClaim {
  const { description, remote, channel } = session;
  const name = description?.datapath.trim() ?? "";
  return {
    id,
    type: "SWITCH",
    available: true,
    role: roleOf(session, forwarding),
    mfr: description?.mfr ?? "",
    hw: description?.hw ?? "",
    sw: description?.sw ?? "",
    serial: description?.serial ?? "",
    chassisId: id.slice(3).replace(/^0+(?=.)/, ""),
    annotations: {
      // Open vSwitch describes a datapath as None until somebody, such as Mininet, describes it.
      ...(isRealIdentity(name) && { name }),
      managementAddress: channel.remoteAddress,
      channelId: remote,
      protocol: "OF_13",
      datapathDescription: description?.datapath ?? "",
      ...(conflict && { conflict: conflict.text }),
    },
  };
}

function roleOf(
  { isRoleRefused }: Session,
  forwarding: OpenflowSettings["forwarding"],
): "MASTER" | "STANDBY" | "NONE" {
  if (forwarding === "none") return "NONE";
  return isRoleRefused ? "STANDBY" : "MASTER";
}

/** `disconnectedAt` in epoch milliseconds. */
export const unavailableClaim = (last: DeviceClaim, disconnectedAt: number): DeviceClaim => ({
  ...last,
  available: false,
  role: "NONE",
  lastUpdate: String(Math.round(disconnectedAt)),
});

export function portClaim(
  device: string,
  { number, description }: SwitchPort,
  isFlapping: boolean,
): PortClaim {
  return {
    element: device,
    port: portText(number),
    isEnabled: isUp(description),
    type: isFiber(description) ? "fiber" : "copper",
    portSpeed: speedMbps(description),
    annotations: {
      portName: description.name,
      portMac: description.mac,
      ...(isFlapping && { flapping: "true" }),
    },
  };
}
