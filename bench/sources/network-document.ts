/** A large network document, as the sources `http` and `file` read it. */
const id = (n: number): string => `of:${n.toString(16).padStart(16, "0")}`;
const mac = (n: number): string => `02${n.toString(16).padStart(10, "0").replace(/../g, ":$&")}`;

/** The JSON text in pieces of one record each. */
export function* encodeNetwork(devices: number, ports: number, hosts: number): Generator<string> {
  yield '{"devices":[';
  for (let n = 0; n < devices; n++) {
    const list = Array.from({ length: ports }, (_, port) => ({
      port: port + 1,
      isEnabled: true,
      portSpeed: 10_000,
    }));
    const device = { id: id(n), type: "SWITCH", annotations: { name: `switch-${n}` }, ports: list };
    yield (n > 0 ? "," : "") + JSON.stringify(device);
  }
  yield '],"hosts":[';
  for (let n = 0; n < hosts; n++) {
    const ipAddresses = [`10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`];
    const location = { elementId: id(n % devices), port: (n % ports) + 1 };
    yield (n > 0 ? "," : "") + JSON.stringify({ mac: mac(n), ipAddresses, location });
  }
  yield "]}";
}
