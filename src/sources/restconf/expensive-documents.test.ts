/** Documents that are small, but would take hours or all memory in a mapping that follows every way through them. */
import { describe, expect, test } from "bun:test";
import { ids, LINK, link, map, on, points, TP } from "../../../test/support/restconf-mapping.ts";
import { CLAIM_LIMITS, canonicalClaim } from "../../model/claim.ts";

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("each of these is mapped at once", () => {
  test("sixty layers of two nodes, each over both of the layer below", () => {
    const networks = range(60).flatMap((layer) =>
      ["a", "b"].map((side) => ({
        "network-id": `${side}${layer}`,
        node: [
          {
            "node-id": `${side}${layer}`,
            ...(layer > 0 && {
              "supporting-node": ["a", "b"].map((below) =>
                on(`${below}${layer - 1}`, `${below}${layer - 1}`),
              ),
            }),
          },
        ],
      })),
    );
    expect(ids(map({ networks })).devices).toEqual(["a0"]);
  });

  test("a chain of links, each over the next one", () => {
    const count = 20_000;
    const network = {
      "network-id": "n",
      node: [
        { "node-id": "a", [TP]: points("1") },
        { "node-id": "b", [TP]: points("1") },
      ],
      [LINK]: range(count).map((index) =>
        link(`l${index}`, ["a", "1"], ["b", "1"], {
          "supporting-link": [{ "network-ref": "n", "link-ref": `l${index + 1}` }],
        }),
      ),
    };
    expect(ids(map({ networks: [network] })).links).toHaveLength(1);
  });

  test("points over many points of a node over many nodes", () => {
    const topologies = [
      {
        "topology-id": "t",
        node: [
          {
            "node-id": "a",
            "supporting-node": range(20_000).map((index) => ({
              "topology-ref": `below${index}`,
              "node-ref": `n${index}`,
            })),
            "termination-point": [{ "tp-id": "1", "tp-ref": range(20_000).map((index) => `p${index}`) }],
          },
        ],
      },
    ];
    expect(ids(map({ topologies })).ports).toEqual(["a/1"]);
  });

  test("a host in every VLAN, with many addresses and at many ports, is refused", () => {
    const tps = range(20_000).map((index) => `openflow:1:${index + 1}`);
    const host = {
      "node-id": "host:00:00:00:00:00:01",
      "host-tracker-service:addresses": range(4000).map((vlan) => ({
        mac: "00:00:00:00:00:01",
        ip: "10.0.0.1",
        vlan: vlan + 1,
      })),
      "host-tracker-service:attachment-points": tps.map((tp) => ({ "tp-id": tp })),
    };
    const node = { "node-id": "openflow:1", "termination-point": points(...tps) };
    const { hosts } = map({ topologies: [{ "topology-id": "flow:1", node: [node, host] }] }).claims;
    expect(hosts).toHaveLength(4000);
    expect(new Set(hosts.map(({ locations }) => locations.length))).toEqual(
      new Set([CLAIM_LIMITS.locations + 1]),
    );
    const [first] = hosts;
    expect(canonicalClaim("hosts", first)).toMatchObject({ ok: false, fault: { field: "/locations" } });
  });
});
