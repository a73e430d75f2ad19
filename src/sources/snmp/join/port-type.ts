/** The type of a port. IF-MIB does not know the medium of an Ethernet port: its name and speed give it away. */
import type { PortClaim } from "../../../model/claim.ts";
import type { AgentInterface } from "../tables/agent-report.ts";
import { isAggregate } from "../tables/interfaces.ts";

/** ifTypes: other, loopback, prop. virtual, prop. multiplexor, tunnel, VLANs, MPLS, bridge, and the like. */
const IFTYPE_VIRTUAL = new Set([1, 24, 53, 54, 131, 135, 136, 150, 166, 209]);
const IFTYPE_FIBER = new Set([15, 39, 56, 69, 195, 196]);
const FIBER_NAME = /sfp|fib(?:er|re)|optic/i;
/** Ethernet at this speed has no copper cabling. */
const FIBER_SPEED_MBPS = 25_000;

export function portType(port: AgentInterface): NonNullable<PortClaim["type"]> {
  if (isAggregate(port) || IFTYPE_VIRTUAL.has(port.type)) return "virtual";
  const isFiber =
    IFTYPE_FIBER.has(port.type) ||
    FIBER_NAME.test(port.name) ||
    FIBER_NAME.test(port.descr) ||
    port.speedMbps >= FIBER_SPEED_MBPS;
  return isFiber ? "fiber" : "copper";
}
