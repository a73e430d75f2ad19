/**
 * Changes from three sides while the soak runs: a network of emulated OpenFlow switches whose cables and sessions go
 * down and up, a file that is replaced, broken and mended, and a configuration that is read again.
 */
import { readFileSync } from "node:fs";
import { addHostToEachSwitch } from "../../test/sources/openflow/emulated-host.ts";
import { buildNetwork, tree } from "../../test/sources/openflow/topologies.ts";
import { type Stop, sleep, type Target } from "../../test/support/attacks/attack.ts";
import { replaceFile } from "../../test/support/attacks/sources.ts";

const SWITCHES = 20;
const FIRST_DPID = 0x100;
const STEP_MS = 1000;
const SWITCH_EVERY = 7;
const FILE_EVERY = 3;
const RELOAD_EVERY = 11;

function fileText(turn: number): string {
  if (turn % 3 === 1) return '{"devices": [{"id": "of:00000000000f0001"}, ';
  const devices = Array.from({ length: 10 + (turn % 5) }, (_, n) => ({
    id: `of:00000000000f${(n + 1).toString(16).padStart(4, "0")}`,
    annotations: { turn: String(turn) },
  }));
  return JSON.stringify({ devices });
}

/** Starts the changes. Afterwards all cables and sessions are up and the file is valid; the configuration is either one. */
export async function startChurn(target: Target): Promise<Stop> {
  const { net, wires } = buildNetwork(SWITCHES, tree(SWITCHES, 3), FIRST_DPID);
  const hosts = addHostToEachSwitch(net);
  const address = { port: target.openflowPort };
  await net.connect(address);
  const switches = [...net.switches.values()];
  const file = target.files[1];
  const configuration = readFileSync(target.configFile, "utf8");
  const configure = (text: string) => {
    replaceFile(target.configFile, text);
    process.kill(target.pid, "SIGHUP");
  };
  const withoutFile = () => {
    const config: { sources: { path?: string }[] } = JSON.parse(configuration);
    return JSON.stringify({ ...config, sources: config.sources.filter(({ path }) => path !== file) });
  };

  const controller = new AbortController();
  const { signal } = controller;
  let [reloads, files] = [0, 0];
  const loop = async () => {
    for (let step = 1; !signal.aborted; step++) {
      const wire = wires[step % wires.length];
      wire?.a.setPort(wire.portA, false);
      hosts[step % hosts.length]?.announce();
      if (step % FILE_EVERY === 0) replaceFile(file, fileText(files++));
      if (step % RELOAD_EVERY === 0) configure(reloads++ % 2 === 0 ? withoutFile() : configuration);
      const rebooting = step % SWITCH_EVERY === 0 ? switches[step % switches.length] : undefined;
      rebooting?.disconnect();
      await sleep(STEP_MS, signal);
      net.deliveries = 0;
      wire?.a.setPort(wire.portA, true);
      for (const sw of switches) if (!sw.connected) await sw.connect(address).catch(() => {});
    }
  };
  const done = loop();
  return async () => {
    controller.abort();
    await done;
    replaceFile(file, fileText(0));
    return `${files} files, ${reloads} reloads`;
  };
}
