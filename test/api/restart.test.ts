/** The real process, killed while it commits: every response it sent is still valid after the restart. */
import { expect, test } from "bun:test";
import { temporaryFolder } from "../support/folder.ts";
import { type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { API } from "./harness.ts";

const PATHS = ["devices", "links", "hosts", "topology", "devices?format=csv"];

interface SentResponse {
  readonly path: string;
  readonly revision: number;
  readonly body: string;
}

async function read(service: Service, path: string): Promise<SentResponse> {
  const response = await service.fetch(`${API}/${path}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
  return { path, revision: Number(response.headers.get("gazetteer-revision")), body };
}

test("kill -9 during churn, three times: no state that was sent in a response is lost", async () => {
  const data = temporaryFolder();
  const args = ["--data", data, "--demo", "devices=60,hosts=200,churn=200,seed=7"];
  const sent: SentResponse[] = [];
  for (let round = 0; round < 3; round++) {
    const service = await startService({ args });
    const newest = Math.max(0, ...sent.map(({ revision }) => revision));
    const now = await read(service, "topology");
    expect(now.revision).toBeGreaterThanOrEqual(newest);
    for (const { path, revision, body } of sent) {
      const at = `${path}${path.includes("?") ? "&" : "?"}at=${revision}`;
      expect(await read(service, at)).toEqual({ path: at, revision, body });
    }
    const hasChanged = async () => (await read(service, "topology")).revision > now.revision + 5;
    await until(hasChanged, { what: "some changes" });
    for (const path of PATHS) sent.push(await read(service, path));
    await service.kill();
  }
}, 120_000);
