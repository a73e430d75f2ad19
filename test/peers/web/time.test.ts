/** The past in the page: played at a speed, from incident to incident, and two moments compared. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { needs } from "../../support/needs.ts";
import { basic } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { audit } from "../../web/audit.ts";
import { type BrowserTab, eventually, openTab, waitForUrlPart } from "../../web/browser.ts";
import { type KnownHistory, leafId, startKnownHistory } from "../../web/known-history.ts";

const hasChromium = needs("chromium");
let history: KnownHistory;
let tab: BrowserTab;
/** The queries of all reads of the service since the last test began, without those of the time line's bars. */
const requests: string[] = [];

beforeAll(async () => {
  if (!hasChromium) return;
  history = await startKnownHistory();
});
beforeEach(async () => {
  if (!hasChromium) return;
  await tab?.close();
  tab = await openTab(history.service);
  requests.length = 0;
  tab.page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pathname.startsWith("/controller/v1/") || search.includes("timeline=")) return;
    requests.push(decodeURIComponent(pathname.slice("/controller/v1/".length) + search));
  });
});
afterAll(async () => {
  await tab?.close();
  history?.remove();
});

const iso = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
const panel = () => tab.page.locator("aside.panel");
const button = (name: string) => tab.page.getByRole("button", { name, exact: true });
const parameter = (name: string) => new URL(tab.page.url()).searchParams.get(name);
const notice = (text: string | RegExp) => tab.page.locator(".notices").getByText(text);
const momentShown = () => tab.page.getByRole("slider", { name: "Moment shown" });

const laptop = () => panel().getByText("laptop").first();

/** From here on `requests` has those of the test: the page opens with the changes of ten minutes, as the last request. */
async function forgetOpening(): Promise<void> {
  const last = `topology?since=${history.revisions.removed}`;
  await until(() => requests.includes(last), { what: "the recent changes" });
  requests.length = 0;
}

/** From here on the clock of the page moves only as the test says. */
async function stopClock(): Promise<void> {
  await tab.page.clock.pauseAt(new Date((await tab.page.evaluate(() => Date.now())) + 1000));
}

/** Lets the time of the page pass, step by step of the play, until the condition holds. */
async function playUntil(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  await until(
    async () => {
      if (await condition()) return true;
      await tab.page.clock.runFor(500);
      return false;
    },
    { what, deadlineMs: 120_000 },
  );
}

test.skipIf(!hasChromium)("the past is played at a speed, and only what changes is loaded", async () => {
  const startMs = history.times.deviceDown - 70_000;
  await tab.page.clock.install();
  await tab.goto(`/?at=${iso(startMs)}`);
  await tab.page.getByText("4 devices, 3 cables, 4 hosts").waitFor();
  await forgetOpening();
  await stopClock();
  await button("Play").click();
  await waitForUrlPart(tab, "play=1");
  const isDown = () => tab.page.getByText("4 devices (1 down)").isVisible();
  await playUntil("the device that goes down", isDown);
  // 60 seconds of the past in a second: each step is 30 seconds.
  const shownMs = Date.parse(parameter("at") ?? "");
  expect((shownMs - startMs) % 30_000).toBe(0);
  expect(shownMs).toBeGreaterThanOrEqual(history.times.deviceDown);
  await playUntil("the repaired device", () =>
    tab.page.getByText("4 devices, 3 cables, 4 hosts").isVisible(),
  );
  expect(Date.parse(parameter("at") ?? "")).toBeGreaterThanOrEqual(history.times.repaired);
  expect(requests.length).toBeGreaterThan(5);
  // The names of ports at the moment that was opened may be loaded after the changes.
  const isOfOpening = (request: string) => request.endsWith(`/ports?at=${iso(startMs)}`);
  const isOfPlay = (request: string) => request.startsWith("topology?diff=");
  expect(requests.filter((request) => !isOfOpening(request) && !isOfPlay(request))).toEqual([]);
  await button("Pause").click();
  await waitForUrlPart(tab, "at=");
  await eventually("no play in the address", async () => expect(parameter("play")).toBeNull());
  const pausedAt = parameter("at");
  await tab.page.clock.runFor(5000);
  expect(parameter("at")).toBe(pausedAt);
  expect(tab.errors).toEqual([]);
});

test.skipIf(!hasChromium)(
  "the problems of the past are loaded when the play pauses, and not before",
  async () => {
    const problems = tab.page.locator("aside.problems");
    const ofProblems = () => requests.filter((request) => request.startsWith("topology/problems?at="));
    await tab.page.clock.install();
    await tab.goto(`/?problems=1&at=${iso(history.times.deviceDown - 70_000)}`);
    await problems.getByText("No problems.").waitFor();
    // A host has moved since, which is a notice: the list has it, and the button does not count it.
    const ofNow = tab.page.getByRole("button", { name: "Problems 0 not acknowledged now" });
    await ofNow.waitFor();
    await stopClock();
    requests.length = 0;
    await button("Play").click();
    await problems.getByText("The problems are loaded when the play pauses.").waitFor();
    // No number and no sentence that would be of another moment.
    expect(await problems.locator(".problem-filters .count").allTextContents()).toEqual(Array(6).fill("–"));
    expect(await problems.getByText("No problems.").count()).toBe(0);
    const isDown = () => tab.page.getByText("4 devices (1 down)").isVisible();
    await playUntil("the device that goes down", isDown);
    expect(ofProblems()).toEqual([]);
    await button("Pause").click();
    await problems.getByText("These were the problems at the time that is shown.").waitFor();
    expect(await problems.locator(".problem-link").first().textContent()).toBe("Device down leaf1");
    expect(ofProblems()).toEqual([`topology/problems?at=${parameter("at")}`]);
    await ofNow.waitFor();
    expect(tab.errors).toEqual([]);
  },
);

test.skipIf(!hasChromium)("hosts that are shown follow the play, forwards and backwards", async () => {
  const at = (ms: number) => `/?at=${iso(ms)}&selected=devices:${leafId(3)}&speed=10`;
  await tab.page.clock.install();
  await tab.goto(at(history.times.changed - 8000));
  await laptop().waitFor();
  await stopClock();
  await button("Play").click();
  await playUntil("the host to move away", async () => !(await laptop().isVisible()));
  await panel().getByRole("button", { name: "1 host", exact: true }).waitFor();
  await tab.page.goBack();
  await laptop().waitFor();
  await panel().getByRole("button", { name: "2 hosts", exact: true }).waitFor();
});

test.skipIf(!hasChromium)("the play of the address ends at now, and the page is live", async () => {
  await tab.page.clock.install();
  await tab.goto(`/?at=${iso(history.times.added - 1000)}&play=1&speed=600`);
  await stopClock();
  await playUntil("the page to be live", () => parameter("at") === null);
  expect(parameter("play")).toBeNull();
  await tab.page.locator('.status[data-level="live"]').waitFor();
  await notice(/reached now/).waitFor();
  await tab.page.getByText("4 devices, 3 cables, 4 hosts").waitFor();
});

test.skipIf(!hasChromium)(
  "play, speed and incidents have keys while the focus is in the time line",
  async () => {
    await tab.page.clock.install();
    // A machine that has no time for the search now: the page would say so, and leave the next try to the user.
    await tab.page.route(/incident=/, async (route) => {
      const headers = { ...route.request().headers(), authorization: basic(history.service.credentials) };
      let response = await route.fetch({ headers });
      while (response.status() === 503) response = await route.fetch({ headers });
      await route.fulfill({ response });
    });
    await tab.goto(`/?at=${history.revisions.repaired}`);
    await tab.page.locator('.status[data-level="past"]').waitFor();
    await stopClock();
    await momentShown().focus();
    await tab.page.keyboard.press("Space");
    await waitForUrlPart(tab, "play=1");
    await tab.page.keyboard.press("+");
    await waitForUrlPart(tab, "speed=600");
    await tab.page.keyboard.press("-");
    await eventually("the default speed", async () => expect(parameter("speed")).toBeNull());
    await tab.page.keyboard.press("p");
    await eventually("no play in the address", async () => expect(parameter("play")).toBeNull());
    await tab.page.keyboard.press("]");
    await waitForUrlPart(tab, `at=${history.revisions.removed}`);
    await tab.page.keyboard.press("[");
    await waitForUrlPart(tab, `at=${history.revisions.linkDown}`);
  },
);

test.skipIf(!hasChromium)("a request that another moment overtakes is aborted", async () => {
  await tab.goto(`/?at=${iso(history.times.start)}`);
  await tab.page.locator('.status[data-level="past"]').waitFor();
  const failed: string[] = [];
  tab.page.on("requestfailed", (request) => failed.push(decodeURIComponent(request.url())));
  const held = iso(history.times.deviceDown);
  // The first move is never answered.
  await tab.page.route(
    (url) =>
      decodeURIComponent(url.search).includes(`diff=`) && decodeURIComponent(url.search).includes(held),
    () => {},
  );
  const go = (at: string) =>
    tab.page.evaluate((search) => {
      window.history.pushState(null, "", search);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/?at=${at}`);
  await go(held);
  await until(() => requests.some((request) => request.includes(held)), { what: "the first request" });
  await go(iso(history.times.removed));
  await tab.page.getByText("3 devices, 2 cables, 3 hosts").waitFor();
  await until(() => failed.some((url) => url.includes(held)), { what: "the aborted request" });
});

/**
 * The time line has marks where the history has faults and recoveries, each right after it happened. A history of 40 minutes
 * fills the line of an hour: nothing of the line is before the history.
 */
async function expectIncidentMarks(): Promise<void> {
  const { times } = history;
  const shares = (name: string) =>
    tab.page
      .locator(`.track .mark.${name}`)
      .evaluateAll((marks) => marks.map((mark) => parseFloat(mark.style.left)));
  const startMs = Number(await momentShown().getAttribute("aria-valuemin"));
  const endMs = Number(await momentShown().getAttribute("aria-valuemax"));
  expect(startMs).toBe(times.start);
  const shareOf = (ms: number) => (100 * (ms - startMs)) / (endMs - startMs);
  const isRightAfter = (mark: number, ms: number) => mark > shareOf(ms) && mark < shareOf(ms) + 1;
  const expectAt = (found: number[], moments: number[]) => {
    expect(moments.filter((ms) => !found.some((mark) => isRightAfter(mark, ms)))).toEqual([]);
    expect(found.filter((mark) => !moments.some((ms) => isRightAfter(mark, ms)))).toEqual([]);
  };
  // Device and link went down four seconds apart, so they have one mark or two.
  expectAt(await shares("faults"), [times.deviceDown, times.linkDown, times.removed]);
  expectAt(await shares("recoveries"), [times.repaired, times.added]);
  expect(
    await tab.page.locator(".before-history").evaluate((part) => part.getBoundingClientRect().width),
  ).toBe(0);
}

test.skipIf(!hasChromium)(
  "buttons lead from incident to incident, and state both ends of the history",
  async () => {
    const { revisions } = history;
    await tab.goto("/");
    await tab.page.locator('.status[data-level="live"]').waitFor();
    await forgetOpening();
    await button("Previous incident").click();
    await waitForUrlPart(tab, `at=${revisions.removed}`);
    await notice(/1 device removed, 1 cable lost/).waitFor();
    await tab.page.getByText("3 devices, 2 cables, 3 hosts").waitFor();
    // The note at the upper left has the time of the incident, and no revision.
    const note = tab.page.locator(".chips").getByText("As of");
    expect(await note.textContent()).toMatch(/^As of .*\d\d:\d\d:\d\d$/);
    expect(await momentShown().getAttribute("aria-valuetext")).toBe(
      (await note.textContent())?.slice(6) ?? "",
    );
    await button("Previous incident").click();
    await waitForUrlPart(tab, `at=${revisions.linkDown}`);
    await notice(/1 device down, 1 cable down/).waitFor();
    await tab.page.getByText("4 devices (1 down), 3 cables (1 down)").waitFor();
    await button("Previous incident").click();
    await notice(/no earlier incident/).waitFor();
    expect(parameter("at")).toBe(String(revisions.linkDown));
    await button("Next incident").click();
    await waitForUrlPart(tab, `at=${revisions.removed}`);
    await button("Next incident").click();
    await notice(/no later incident/).waitFor();
    expect(parameter("at")).toBe(String(revisions.removed));
    const searches = requests.filter((request) => request.includes("incident="));
    expect(searches).toEqual([
      "topology?incident=previous",
      `topology?incident=previous&at=${revisions.removed}`,
      `topology?incident=previous&at=${revisions.linkDown}`,
      `topology?incident=next&at=${revisions.linkDown}`,
      `topology?incident=next&at=${revisions.removed}`,
    ]);
    expect(requests.filter((request) => request.includes("since="))).toEqual([]);
    await expectIncidentMarks();
  },
);

test.skipIf(!hasChromium)("in a comparison, an incident is compared with the moment before it", async () => {
  const { revisions } = history;
  await tab.goto(`/?compare=${revisions.start}`);
  await panel().getByRole("heading", { name: "Comparison" }).waitFor();
  await button("Previous incident").click();
  await waitForUrlPart(tab, `compare=${revisions.changed}`);
  await panel().getByText("1 device removed").waitFor();
  await button("Previous incident").click();
  await waitForUrlPart(tab, `compare=${revisions.start}`);
  await panel().getByText("0 added, 0 removed, 2 changed").waitFor();
});

const group = (title: string) => panel().locator("details", { hasText: title });

test.skipIf(!hasChromium)(
  "two moments of the past are typed as revisions or times, and the differences are listed with their fields",
  async () => {
    const { revisions, times } = history;
    await tab.goto(`/?compare=${revisions.start}`);
    await panel().getByRole("heading", { name: "Comparison" }).waitFor();
    const [from, to] = [panel().getByLabel("From"), panel().getByLabel("To")];
    expect(await to.inputValue()).toBe("now");
    await to.fill("soon");
    await to.press("Enter");
    await panel().getByRole("alert").getByText("“soon” is no moment").waitFor();
    await to.fill(iso(times.removed));
    await to.press("Enter");
    await waitForUrlPart(tab, `at=${iso(times.removed)}`);
    await panel().getByText("0 added, 3 removed, 3 changed").waitFor();
    await group("1 device removed").getByRole("link", { name: "leaf2" }).waitFor();
    await group("1 cable removed")
      .getByRole("link", { name: /spine\/2 – leaf2\/1|leaf2\/1 – spine\/2/ })
      .waitFor();
    await group("2 devices changed").getByText("mfr: Edgecore → Arista").waitFor();
    await group("1 host changed")
      .getByText(`locations: ${leafId(3)}/4 → ${leafId(1)}/4`)
      .waitFor();
    await group("2 devices changed").getByText("leaf1 went down and came back").waitFor();
    // What is gone is still drawn: the map has all four devices.
    await tab.page.getByText(/^4 devices, 3 cables/).waitFor();
    await group("1 device removed").getByRole("link", { name: "leaf2" }).click();
    await waitForUrlPart(tab, `selected=devices:${leafId(2)}`);
    await panel().getByRole("heading", { name: "leaf2" }).waitFor();

    // The other way round the same differences are listed: from the earlier to the later moment.
    await from.fill(String(revisions.removed));
    await from.press("Enter");
    await to.fill(String(revisions.start));
    await to.press("Enter");
    await waitForUrlPart(tab, `compare=${revisions.removed}`);
    await waitForUrlPart(tab, `at=${revisions.start}&`);
    await panel().getByText("0 added, 3 removed, 3 changed").waitFor();
    await group("2 devices changed").getByText("mfr: Edgecore → Arista").waitFor();
    await tab.page.getByText(/^4 devices, 3 cables/).waitFor();
  },
);

test.skipIf(!hasChromium)(
  "both moments are moved with the keyboard, and the address shows the same comparison in another tab",
  async () => {
    const { times } = history;
    await tab.goto(`/?compare=${iso(times.changed + 1000)}&at=${iso(times.added + 1000)}`);
    await panel().getByText("2 added").or(panel().getByText("3 added")).waitFor();
    const handle = tab.page.getByRole("slider", { name: "Moment compared with" });
    await handle.focus();
    const before = parameter("compare");
    await handle.press("PageDown");
    await eventually("an earlier moment", async () =>
      expect(parameter("compare") ?? "").not.toBe(before ?? ""),
    );
    await momentShown().press("ArrowLeft");
    await eventually("another moment", async () => expect(parameter("at")).not.toBe(iso(times.added + 1000)));
    const summary = panel()
      .getByRole("status")
      .filter({ hasText: /added|Nothing/ });
    await eventually("the loaded comparison", async () =>
      expect(await panel().getByLabel("To").inputValue()).toBe(
        (parameter("at") ?? "").slice(0, 19).replace("T", " "),
      ),
    );
    const other = await openTab(history.service, { timezoneId: "Asia/Tokyo" });
    await other.goto(tab.page.url().slice(history.service.url.length));
    await eventually("the same differences", async () =>
      expect(await other.page.locator("aside.panel .comparison").getByRole("status").textContent()).toBe(
        await summary.textContent(),
      ),
    );
    await other.close();
  },
);

test.skipIf(!hasChromium)("axe finds nothing while the past is played and compared", async () => {
  for (const colorScheme of ["dark", "light"] as const) {
    const other = await openTab(history.service, { colorScheme });
    await other.goto(`/?compare=${history.revisions.start}&at=${history.revisions.removed}`);
    await other.page.getByText("1 device removed").waitFor();
    await other.page.getByLabel("From").fill("soon");
    await other.page.getByLabel("From").press("Enter");
    await other.page.getByRole("alert").waitFor();
    expect(await audit(other)).toEqual([]);
    await other.close();
  }
});
