/** The flags that set the configuration. `serve`, `check` and `cluster` share them, so that all read the same values. */
import type { Flag } from "./command.ts";

export const CONFIG_FLAGS: readonly Flag[] = [
  { name: "config", value: "FILE", help: "Configuration file (YAML). Flags and environment override it." },
  { name: "host", value: "H", help: "Address to listen on. Default 127.0.0.1" },
  { name: "port", value: "N", help: "Port to listen on; 0 picks a free one. Default 8181" },
  {
    name: "data",
    value: "DIR",
    help: "Folder for the change log and the users file; :memory: writes nothing. Default ./data",
  },
  { name: "users", value: "FILE", help: "Users file. Default: users in the data folder" },
  { name: "tls-cert", value: "FILE", help: "Serve HTTPS with this certificate (PEM). Needs --tls-key." },
  { name: "tls-key", value: "FILE", help: "Private key of the certificate (PEM)." },
  {
    name: "tls-client-ca",
    value: "FILE",
    help: "Authorities (PEM) for client certificates; the CN of a certificate is the name of a user.",
  },
  {
    name: "allow-plaintext",
    help: "Listen without TLS on an address that other machines can reach.",
  },
  {
    name: "demo",
    value: "SPEC",
    optional: true,
    help: "Add a simulated network: devices=50,hosts=300,churn=0.33,seed=1",
  },
  {
    name: "openflow",
    value: "[HOST:]PORT",
    optional: true,
    help: "Act as the controller of OpenFlow switches that connect here, and let them forward. Default 127.0.0.1:6653",
  },
  {
    name: "file",
    value: "PATH",
    repeated: true,
    help: "Add the network described in a JSON or YAML file. Changes of the file are applied.",
  },
  {
    name: "alias",
    value: "NAME",
    repeated: true,
    help: "Serve the same resources under /NAME/v1 too; onos as ONOS does.",
  },
  {
    name: "readers",
    value: "N",
    help: "Processes that serve requests; auto is one for each core. Default 1",
  },
  {
    name: "cluster",
    value: "URLS",
    help: "Be a node of the cluster on these NATS servers, such as nats://10.0.0.1:4222,nats://10.0.0.2:4222.",
  },
  {
    name: "set",
    value: "KEY=VALUE",
    repeated: true,
    help: "Set any other key of the configuration, such as limits.pageLimit=500.",
  },
];

export const CONFIG_NOTE = `\
A value comes from its flag, else from the environment (GAZETTEER_ and the key: GAZETTEER_LIMITS_PAGE_LIMIT), else from
the file, else it is the default. --demo, --openflow, --file and --alias add to the lists. Relative paths in the file, those of
its sources included, are relative to the file; all others to the working folder.`;
