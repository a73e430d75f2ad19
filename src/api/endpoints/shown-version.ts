/**
 * The current version of a representation whose request names devices. It is valid only while the names mean the same
 * devices as when it was rendered, because an alias may move to another device whose version is the same number.
 */
import type { NetworkState, View } from "../../view/view.ts";
import type { RepresentationInfo } from "../response/representation.ts";

export type Versions = Pick<RepresentationInfo, "version" | "currentVersion">;

/** A version that no data has. */
const NO_VERSION = -1;

/**
 * Limits the validity of a version. `shown` is what `resolve` returned for the state that was rendered; it is resolved again
 * when devices have changed. `resolve` is kept with the version, so it must not be created in a scope that refers to a state.
 */
export function whileShown(
  { version, currentVersion }: Versions,
  view: View,
  resolve: (state: NetworkState) => string,
  shown: string,
  { versions: { devices } }: Pick<NetworkState, "versions">,
): Versions {
  if (!currentVersion) return { version };
  let seen = devices;
  let isShown = true;
  return {
    version,
    currentVersion: () => {
      if (view.versions.devices !== seen) {
        seen = view.versions.devices;
        isShown = resolve(view.capture()) === shown;
      }
      return isShown ? currentVersion() : NO_VERSION;
    },
  };
}
