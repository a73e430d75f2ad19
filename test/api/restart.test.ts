/** The real process, killed in the middle of things: what it answered once, it answers again. */
import { expect, test } from "bun:test";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { API } from "./harness.ts";

const PATHS = ["devices", "links", "hosts", "topology", "devices?format=csv"];

interface Answered {
  readonly path: string;
  readonly revision: number;
  readonly body: string;
}

async function ask(service: Service, path: string): Promise<Answered> {
  const response = await service.fetch(`${API}/${path}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
  return { path, revision: Number(response.headers.get("gazetteer-revision")), body };
}

test("kill -9 in the middle of churn, again and again: nothing that was answered is lost", async () => {
  const data = temporaryFolder();
  const args = ["--data", data, "--demo", "devices=60,hosts=200,churn=200,seed=7"];
  const remembered: Answered[] = [];
  for (let round = 0; round < 3; round++) {
    const service = await startService({ args });
    const newest = Math.max(0, ...remembered.map(({ revision }) => revision));
    const now = await ask(service, "topology");
    expect(now.revision).toBeGreaterThanOrEqual(newest);
    for (const { path, revision, body } of remembered) {
      const at = `${path}${path.includes("?") ? "&" : "?"}at=${revision}`;
      expect(await ask(service, at)).toEqual({ path: at, revision, body });
    }
    const moved = async () => (await ask(service, "topology")).revision > now.revision + 5;
    await until(moved, { what: "some changes" });
    for (const path of PATHS) remembered.push(await ask(service, path));
    await service.kill();
  }
}, 120_000);
