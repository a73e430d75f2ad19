/** Installs the SNMP simulator before the suite runs (scripts/test/preparations.ts). */
import { hasSnmpsim } from "./snmpsim.ts";

hasSnmpsim();
