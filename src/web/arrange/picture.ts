/**
 * The background picture: decodes that of an arrangement for the map, and reads a file of the user into an arrangement. A
 * picture is a `data:` address in the arrangement itself, so the page loads it from nowhere.
 */
import { type Background, placeOf } from "../../model/map-view.ts";
import type { MapPicture } from "../map/map-drawing.ts";
import type { Checked } from "./checked-view.ts";

/** That of the format, in characters. */
const MAX_TEXT = 512 * 1024;
const MAX_SIDE_PX = 2400;
const MIN_SIDE_PX = 200;
const QUALITY = 0.85;

export class PictureLoader {
  readonly #set: (picture: MapPicture | undefined) => void;
  #background: Background | undefined;
  #text: string | undefined;
  #image: ImageBitmap | undefined;

  constructor(set: (picture: MapPicture | undefined) => void) {
    this.#set = set;
  }

  show(background: Background | undefined): void {
    if (background === this.#background) return;
    this.#background = background;
    const text = background?.picture;
    const isSame = text === this.#text;
    if (!isSame) {
      this.#text = text;
      this.#image?.close();
      this.#image = undefined;
    }
    this.#place();
    if (!isSame && text !== undefined) void this.#load(text);
  }

  async #load(text: string): Promise<void> {
    const image = await decode(text);
    if (text !== this.#text) return image?.close();
    this.#image = image;
    this.#place();
  }

  #place(): void {
    const place = placeOf(this.#background ?? {});
    if (this.#image && place) {
      const { x, y, width, height } = place;
      this.#set({ image: this.#image, left: x, top: -y, width, height });
    } else this.#set(undefined);
  }
}

/** Undefined if it is no picture: the format checks only its characters. */
async function decode(text: string): Promise<ImageBitmap | undefined> {
  try {
    const bytes = Uint8Array.from(atob(text.slice(text.indexOf(",") + 1)), (character) =>
      character.charCodeAt(0),
    );
    return await createImageBitmap(new Blob([bytes]));
  } catch {
    return undefined;
  }
}

export interface ReadPicture {
  readonly picture: string;
  /** Height by width. */
  readonly ratio: number;
}

/** Scales a large picture down until it fits. */
export async function readPicture(file: Blob): Promise<Checked<ReadPicture>> {
  let image: ImageBitmap;
  try {
    image = await createImageBitmap(file);
  } catch {
    return { ok: false, message: "The file is no picture that this browser reads: PNG, JPEG or WebP." };
  }
  const ratio = image.height / image.width;
  const largest = Math.max(image.width, image.height);
  for (let side = Math.min(MAX_SIDE_PX, largest); side >= Math.min(MIN_SIDE_PX, largest); side *= 0.7) {
    const picture = await encode(image, side / largest);
    if (picture.length <= MAX_TEXT) return { ok: true, value: { picture, ratio } };
  }
  return { ok: false, message: "The picture is too large." };
}

async function encode(image: ImageBitmap, scale: number): Promise<string> {
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(image.width * scale)),
    Math.max(1, Math.round(image.height * scale)),
  );
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  // A browser that cannot write WebP writes PNG.
  const blob = await canvas.convertToBlob({ type: "image/webp", quality: QUALITY });
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return `data:${blob.type};base64,${btoa(text)}`;
}
