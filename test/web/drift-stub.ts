/**
 * Answers what the page requests about drift at the network boundary of the browser, from the real answers of a service
 * that has no plan: the stream `drift=any`, the lists with `drift`, and `drift` on the entities of the plain lists.
 */
import type { Page, Route } from "playwright-core";
import type { Device, Drift, Link, Port } from "../../src/model/entity.ts";
import { device, link } from "../support/sample-network.ts";
import type { Service } from "../support/service.ts";
import { deviceId, MARKUP_NAME } from "./network-file.ts";

export const SINCE = "2026-11-15T03:12:00.000Z";
const missing: Drift = { state: "missing", since: SINCE };

/** Planned beside `spine1`, under a name with markup. */
export const MISSING_DEVICE: Device = device("plan:leaf9", {
  annotations: { name: `${MARKUP_NAME} planned` },
  sources: [],
  drift: missing,
});
const MISSING_LINK: Link = link(
  { device: deviceId(1), port: "9" },
  { device: MISSING_DEVICE.id, port: "1" },
  { sources: [], drift: missing },
);
const { firstSeen, lastChanged, sources, revision } = MISSING_DEVICE;
const MISSING_PORT: Port = {
  element: deviceId(11),
  port: "48",
  isEnabled: true,
  type: "copper",
  portSpeed: 1000,
  ...{ firstSeen, lastChanged, sources, revision },
  drift: missing,
};

/** By device id. */
const DEVICE_DRIFT: Readonly<Record<string, Drift>> = {
  [deviceId(11)]: {
    state: "differs",
    since: SINCE,
    fields: {
      type: { intended: "ROUTER", observed: "SWITCH" },
      "annotations.rack": { intended: MARKUP_NAME },
    },
  },
  [deviceId(13)]: { state: "unplanned", since: SINCE },
};

export interface DriftStub {
  /** Completes the next revision of the stream: the missing device and its link are gone from it. */
  sendArrival(): void;
  /** The requests of the stream so far, by their `since`. */
  readonly streams: (string | null)[];
}

const record = (event: string, data: unknown, id?: number): string =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

export async function stubDrift(page: Page, service: Service): Promise<DriftStub> {
  const arrival = Promise.withResolvers<void>();
  const streams: (string | null)[] = [];
  const list = await service.fetch("/controller/v1/devices");
  const now = Number(list.headers.get("gazetteer-revision"));
  const headers = {
    "content-type": "text/event-stream",
    "gazetteer-log": list.headers.get("gazetteer-log") ?? "",
  };
  const { devices }: { devices: Device[] } = await list.json();

  const snapshot = (): string => {
    const entities = [
      ...devices.map(withDrift).flatMap((value) => (value.drift ? [{ resource: "devices", value }] : [])),
      { resource: "devices", value: MISSING_DEVICE },
      { resource: "ports", value: MISSING_PORT },
      { resource: "links", value: MISSING_LINK },
    ];
    const records = entities.map((entity) => record("snapshot", { ...entity, revision: now }));
    return [...records, record("synced", { revision: now }, now)].join("");
  };
  const changes = (): string => {
    const common = { revision: now + 1, time: Date.parse(SINCE) };
    return (
      record("removed", { resource: "devices", ...common, value: MISSING_DEVICE }) +
      record("removed", { resource: "links", ...common, value: MISSING_LINK }, now + 1)
    );
  };
  await page.route(/\/controller\/v1\/topology\?.*drift=any/, async (route) => {
    const since = new URL(route.request().url()).searchParams.get("since");
    streams.push(since);
    if (since === null) return route.fulfill({ headers, body: snapshot() });
    if (since !== String(now)) return; // The stream of the changes after that stays open.
    await arrival.promise;
    await route.fulfill({ headers, body: changes() });
  });
  await page.route(/\/controller\/v1\/devices(\?|$)/, (route) => answerList(route));
  return { streams, sendArrival: arrival.resolve };
}

const withDrift = (value: Device): Device => {
  const drift = DEVICE_DRIFT[value.id];
  return drift ? { ...value, drift } : value;
};

/** The service has no plan, so it gets the request without `drift`. */
async function answerList(route: Route): Promise<void> {
  const url = new URL(route.request().url());
  // The history of a device, and the changes before the page was opened.
  if (url.searchParams.has("diff") || url.searchParams.has("since")) return route.fallback();
  const isFiltered = url.searchParams.has("drift");
  url.searchParams.delete("drift");
  const response = await route.fetch({ url: url.toString() });
  const { devices, ...rest }: { devices: Device[] } = await response.json();
  const drifting = devices.map(withDrift).filter((value) => !isFiltered || value.drift);
  const shown = isFiltered ? [...drifting, MISSING_DEVICE] : drifting;
  await route.fulfill({ response, json: { ...rest, devices: shown } });
}
