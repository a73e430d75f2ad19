/** The `controller` source against ONOS 2.7's own REST application: the alias `onos` serves what ONOS serves. */
import { describe, expect, test } from "bun:test";
import { SHARED_MARK } from "../../../scripts/test/shared.ts";
import { NETWORK } from "../../onos/network.ts";
import { readAll } from "../../onos/requests.ts";
import {
  expectSameAnswers,
  startReader,
  successes,
  waitForStatus,
} from "../../sources/controller/onos-reader.ts";
import { freePort } from "../../support/free-port.ts";
import { printSkip } from "../../support/needs.ts";
import { missingForOnos } from "./onos-install.ts";
import { startOnos } from "./onos-peer.ts";

const START_TIMEOUT_MS = 360_000;
const missing = missingForOnos();
if (missing) printSkip(`no source reads ONOS itself: ${missing}`);

describe(`ONOS itself ${SHARED_MARK}`, () => {
  test.skipIf(missing !== undefined)(
    "first load; stopped: stale, with the data; started with other files on the same port: updated",
    async () => {
      const port = freePort();
      let onos = await startOnos({ port });
      await using service = await startReader(onos.url);
      await waitForStatus(service, "synced");
      expect(successes.length).toBeGreaterThan(100);
      await expectSameAnswers(service, successes);

      await onos[Symbol.asyncDispose]();
      const { error } = await waitForStatus(service, "stale");
      expect(error).toMatch(/^127\.0\.0\.1:\d+\/\S+: .+ \(ECONN(REFUSED|RESET)\)$/);
      const { devices } = JSON.parse(await (await service.fetch("/onos/v1/devices")).text());
      expect(devices).toHaveLength(NETWORK.devices.length);

      const [, ...hosts] = NETWORK.hosts;
      const network = {
        ...NETWORK,
        devices: NETWORK.devices.map((device, i) => (i === 0 ? { ...device, available: false } : device)),
        links: NETWORK.links.slice(2),
        hosts,
      };
      onos = await startOnos({ port, network });
      try {
        await waitForStatus(service, "synced");
        const { links } = JSON.parse(await (await service.fetch("/onos/v1/links")).text());
        expect(links).toHaveLength(network.links.length);
        const theirs = Object.entries(await readAll(onos.fetchPath));
        await expectSameAnswers(
          service,
          theirs.filter(([, { status }]) => status === 200),
        );
      } finally {
        await onos[Symbol.asyncDispose]();
      }
    },
    START_TIMEOUT_MS,
  );
});
