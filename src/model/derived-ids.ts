/**
 * Ids of devices and numbers of ports that a source derives from texts of the network: the chassis id or the name that a
 * device reports about itself, and the name of a port that has no number. All sources use these functions, so that a
 * device or port is the same whoever reports it.
 */
const MAX_TEXT_LENGTH = 200;

/** Limited in length, and without characters that a URL would escape. */
const toIdText = (text: string): string => text.slice(0, MAX_TEXT_LENGTH).replaceAll(/[^\w.:@+-]/g, "_");

/** Of a device that is known by its LLDP chassis id; a MAC address is in its canonical form. */
export const chassisDeviceId = (chassis: string): string => `lldp:${toIdText(chassis)}`;

/** Ports are numbers in the model. A port that only has a name gets a number computed from it. */
export function portNumberOfName(name: string): string {
  if (/^\d{1,9}$/.test(name)) return String(Number(name));
  let number = 0;
  for (const char of name) number = (Math.imul(number, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  return String(1_000_000_000 + (number % 1_000_000_000));
}
