/**
 * Reads the cards of clusters and their texts from what the page gives to WebGL in each frame: the attributes in the buffer of a draw call,
 * and the camera in its uniforms; texts from the calls of the canvas above. Pixels would not tell one card from two of which one covers the other.
 */
import type { BrowserTab } from "./browser.ts";

/** In pixels of the viewport of WebGL, from its centre, y upwards. */
export interface DrawnCard {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A text of the last frame; its place is that of a card. */
export interface DrawnText extends DrawnCard {
  readonly text: string;
}

interface RecordingWindow extends Window {
  drawnCards?: DrawnCard[][];
  drawnTexts?: DrawnText[];
}

/** Pairs of cards that overlap by more than the rounding of 32-bit numbers. */
export function overlaps(cards: readonly DrawnCard[]): [DrawnCard, DrawnCard][] {
  return cards.flatMap((p, i) =>
    cards.slice(i + 1).flatMap((q): [DrawnCard, DrawnCard][] => (isApart(p, q) ? [] : [[p, q]])),
  );
}

function isApart(p: DrawnCard, q: DrawnCard): boolean {
  const apartX = Math.abs(p.x - q.x) - (p.width + q.width) / 2;
  const apartY = Math.abs(p.y - q.y) - (p.height + q.height) / 2;
  return Math.max(apartX, apartY) > -0.01;
}

/** The texts that are not in exactly one card. */
export function straying(texts: readonly DrawnText[], cards: readonly DrawnCard[]): string[] {
  return texts.flatMap((text) =>
    cards.filter((card) => !isApart(text, card)).length === 1 ? [] : text.text,
  );
}

export function readTexts({ page }: BrowserTab): Promise<DrawnText[]> {
  return page.evaluate(() => {
    const recording: RecordingWindow = window;
    return recording.drawnTexts ?? [];
  });
}

/** To be called before the page is opened. */
export async function recordCards({ page }: BrowserTab): Promise<void> {
  await page.addInitScript(wrapDrawCalls);
}

/** The cards of each frame since the last call. */
export function takeFrames({ page }: BrowserTab): Promise<DrawnCard[][]> {
  return page.evaluate(() => {
    const recording: RecordingWindow = window;
    return recording.drawnCards?.splice(0) ?? [];
  });
}

/** Runs in the browser, so it uses nothing outside its body. */
function wrapDrawCalls(): void {
  const recording: RecordingWindow = window;
  const frames: DrawnCard[][] = [];
  recording.drawnCards = frames;
  const { clear, drawElements } = WebGL2RenderingContext.prototype;
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  const isAbove = ({ canvas }: CanvasRenderingContext2D) => canvas.classList.contains("map-names");
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    if (isAbove(this)) recording.drawnTexts = [];
    clearRect.apply(this, area);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    fillText.call(this, text, x, y);
    if (!isAbove(this)) return;
    const { width } = this.measureText(text);
    const height = Number(/([\d.]+)px/.exec(this.font)?.[1]);
    const { clientWidth, clientHeight } = this.canvas;
    recording.drawnTexts?.push({ text, width, height, x: x - clientWidth / 2, y: clientHeight / 2 - y });
  };
  /** `SHAPES.card` of the page. */
  const CARD_SHAPE = 5;
  /** Vertices of a node. */
  const CORNERS = 4;
  WebGL2RenderingContext.prototype.clear = function (mask) {
    frames.push([]);
    clear.call(this, mask);
  };
  WebGL2RenderingContext.prototype.drawElements = function (mode, count, type, offset) {
    drawElements.call(this, mode, count, type, offset);
    const program: WebGLProgram | null = this.getParameter(this.CURRENT_PROGRAM);
    if (!program) return;
    const [position, size, marks] = ["a_position", "a_size", "a_marks"].map((name) =>
      this.getAttribLocation(program, name),
    );
    // Lines have no size.
    if (position === undefined || size === undefined || size < 0 || marks === undefined) return;
    const uniform = (name: string) => {
      const location = this.getUniformLocation(program, name);
      return location && this.getUniform(program, location);
    };
    const [scale, centre]: [number, Float32Array] = [uniform("u_scale"), uniform("u_centre")];
    const stride: number = this.getVertexAttrib(size, this.VERTEX_ATTRIB_ARRAY_STRIDE);
    const offsetOf = (location: number) =>
      this.getVertexAttribOffset(location, this.VERTEX_ATTRIB_ARRAY_POINTER);
    // Two triangles of three vertices are a node.
    const nodes = count / 6;
    const data = new DataView(new ArrayBuffer(nodes * CORNERS * stride));
    this.getBufferSubData(this.ARRAY_BUFFER, 0, data);
    for (let start = 0; start < data.byteLength; start += CORNERS * stride) {
      if (data.getUint8(start + offsetOf(marks)) !== CARD_SHAPE) continue;
      const float = (location: number, i = 0) => data.getFloat32(start + offsetOf(location) + 4 * i, true);
      frames.at(-1)?.push({
        x: (float(position) - (centre[0] ?? 0)) * scale,
        y: (float(position, 1) - (centre[1] ?? 0)) * scale,
        width: float(size) * 2 * scale,
        height: float(size, 1) * 2 * scale,
      });
    }
  };
}
