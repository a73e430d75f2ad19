/**
 * The coastline of the map, in the layout worker: loads the land when it is first switched on, and bends it to the sites of
 * each layout. Nothing is computed again while the sites stay where they are.
 */

import { decodeLand, type LandTopology, type Ring } from "./land.ts";
import { controlPoints, type LocatedSite } from "./located-sites.ts";
import { createRubberSheet, type RubberSheet } from "./rubber-sheet.ts";

/** What the page draws. */
export interface Coastline {
  /** x and y of the points of all rings, flat, y upwards. */
  readonly points: Float32Array<ArrayBuffer>;
  /** Where the points of each ring begin in `points`, and the end of the last. */
  readonly offsets: Uint32Array<ArrayBuffer>;
  /** The number of sites with a place on the earth, and of those that are not drawn at it. */
  readonly sites: number;
  readonly misplaced: number;
}

/** Or why there is none. */
export type CoastlineResult = Coastline | { readonly fault: string };

/** A distance that is not noticed, relative to the distance between the sites that are farthest apart. */
const UNNOTICED = 0.02;

export class CoastlineMaker {
  #url = "";
  #land: Promise<readonly Ring[]> | undefined;
  #key = "";

  /** The address of the land; empty without a coastline. */
  setUrl(url: string): void {
    this.#url = url;
    this.#key = "";
  }

  /** Undefined when there is nothing new: it is off, or no site has moved. */
  async update(listSites: () => readonly LocatedSite[]): Promise<CoastlineResult | undefined> {
    if (this.#url === "") return undefined;
    const sites = listSites();
    const key = JSON.stringify(sites);
    if (key === this.#key) return undefined;
    this.#key = key;
    try {
      this.#land ??= loadLand(this.#url);
      const land = await this.#land;
      // Switched off, or overtaken by another layout.
      if (key !== this.#key) return undefined;
      return bendLand(land, sites);
    } catch (error) {
      this.#land = undefined;
      this.#key = "";
      return { fault: `The coastline cannot be loaded: ${error instanceof Error ? error.message : error}.` };
    }
  }
}

async function loadLand(url: string): Promise<readonly Ring[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the service responds with ${response.status}`);
  const land: LandTopology = await response.json();
  return decodeLand(land);
}

export function bendLand(land: readonly Ring[], sites: readonly LocatedSite[]): CoastlineResult {
  const sheet = createRubberSheet(controlPoints(sites));
  if (!sheet)
    return { fault: "The coastline needs two sites with latitude and longitude, more than a degree apart." };
  const offsets = new Uint32Array(land.length + 1);
  for (const [i, ring] of land.entries()) offsets[i + 1] = (offsets[i] ?? 0) + ring.length * 2;
  const points = new Float32Array(offsets.at(-1) ?? 0);
  let end = 0;
  for (const ring of land) {
    for (const location of ring) {
      const { x, y } = sheet.at(location);
      points[end++] = x;
      points[end++] = -y;
    }
  }
  return { points, offsets, sites: sites.length, misplaced: countMisplaced(sites, sheet) };
}

/** Sites whose place on the earth is not within the area of their devices. */
function countMisplaced(sites: readonly LocatedSite[], sheet: RubberSheet): number {
  const xs = sites.map(({ position }) => position.x);
  const margin = (Math.max(...xs) - Math.min(...xs)) * UNNOTICED;
  return sites.filter(({ location, position, reach }) => {
    const { x, y } = sheet.at(location);
    return Math.abs(x - position.x) > reach.x + margin || Math.abs(y - position.y) > reach.y + margin;
  }).length;
}
