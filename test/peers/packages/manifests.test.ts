/** The Kubernetes manifest and the Containerfile fit each other and the service: ports, paths, users, configuration. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { runCommand } from "../../support/command.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startService } from "../../support/service.ts";

const read = (name: string) => readFileSync(join(import.meta.dir, "../../../packaging", name), "utf8");
const [config, service, set] = parseAllDocuments(read("kubernetes.yaml")).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS();
});
const pod = set.spec.template.spec;
const [container] = pod.containers;

test("the probes are paths that need no credentials, on the port where the service listens", async () => {
  await using started = await startService({ args: ["--data", ":memory:", "--demo=devices=2,hosts=0"] });
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
    const { path, port } = container[probe].httpGet;
    expect([probe, (await fetch(started.url + path)).status]).toEqual([probe, 200]);
    expect(container.ports.map(({ name }: { name: string }) => name)).toContain(port);
  }
  expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
  expect(service.spec.selector).toEqual(set.spec.template.metadata.labels);
});

test("the service accepts the configuration and the arguments", async () => {
  const folder = temporaryFolder();
  const users = join(folder, "users");
  const added = await runCommand(["passwd", users, "ann"], { stdin: "correct horse battery\n" });
  expect([added.status, added.stderr]).toEqual([0, ""]);
  const file = join(folder, "gazetteer.yaml");
  writeFileSync(file, config.data["gazetteer.yaml"].replace("/etc/gazetteer-users/users", users));
  const { status, stderr } = await runCommand(["check", file]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(container.args).toEqual(["serve", "--config", "/etc/gazetteer/gazetteer.yaml"]);
  expect(config.data["gazetteer.yaml"]).toContain(`port: ${container.ports[0].containerPort}\n`);
});

test("the pod runs as the user of the image, and everything that it mounts exists", () => {
  const image = read("Containerfile");
  expect(image).toContain(`\nUSER ${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}\n`);
  const names = [
    ...pod.volumes,
    ...set.spec.volumeClaimTemplates.map(({ metadata }: { metadata: object }) => metadata),
  ];
  for (const { name } of container.volumeMounts) expect(names.map((volume) => volume.name)).toContain(name);
  const data = container.volumeMounts.find(({ name }: { name: string }) => name === "data").mountPath;
  expect(image).toContain(`GAZETTEER_DATA=${data}/`);
  expect(image).toContain(`\nVOLUME ["${data}"]\n`);
});
