/**
 * The `controller` source and a server with the recorded lists of ONOS 2.7: what the alias `onos` then serves must equal what
 * ONOS serves. test/peers/onos has the same with ONOS itself.
 */
import { test } from "bun:test";
import { expectSameAnswers, recorded, startReader, successes, waitForStatus } from "./onos-reader.ts";

test("recorded lists: the alias answers as the ONOS that they are from", async () => {
  const lists = { devices: "devices", "devices/ports": "ports", links: "links", hosts: "hosts" };
  using onos = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const path = new URL(request.url).pathname.replace("/onos/v1/", "");
      const response = recorded[`GET ${path}`];
      return path in lists || path === "topology"
        ? Response.json(response?.body)
        : new Response("", { status: 404 });
    },
  });
  await using service = await startReader(`http://127.0.0.1:${onos.port}/onos/v1`);
  await waitForStatus(service, "synced");
  await expectSameAnswers(service, successes);
}, 180_000);
