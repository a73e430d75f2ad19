/** Installs the tools of this suite that `npm test` does not need (scripts/test/preparations.ts). */
import { installPeers } from "../../../scripts/peers.ts";

await installPeers(
  {
    "prometheus-alertmanager": ["which", "prometheus-alertmanager"],
    "ansible-core": ["which", "ansible-inventory"],
  },
  {},
);
