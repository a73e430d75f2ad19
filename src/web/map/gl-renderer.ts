/**
 * Draws the instances of the map with WebGL: the lines of cables, then the nodes. It sends only instances in view to the
 * GPU. Its only state is buffers, so that a lost context can be restored from the layers.
 */
import { errorMessage } from "../../lib/error-message.ts";
import { EDGE_PROGRAMS, edgeProgram } from "./edge-program.ts";
import type { Bounds, Projection } from "./geometry.ts";
import type { InstanceBuffer } from "./instance-layer.ts";
import { InstanceLayer } from "./instance-layer.ts";
import { NODE_PROGRAM } from "./node-program.ts";
import {
  CORNERS,
  type CompiledProgram,
  compileProgram,
  createVertexArray,
  type QuadProgram,
  strideOf,
  TRIANGLES,
} from "./quad-program.ts";

/** Number of levels: dimmed, normal, down, and selected or on a path. */
const LEVELS = 4;
/** The maximum distance from its points at which an instance other than a card is drawn. */
const MARGIN_PX = 80;

/** The instances of a frame: those of devices or those of clusters. */
export interface Scene {
  readonly edges: InstanceLayer;
  readonly nodes: InstanceLayer;
  /** The maximum distance in map units from its centre at which a card is drawn. */
  cardReach: number;
}

export const createScene = (): Scene => ({
  cardReach: 0,
  edges: new InstanceLayer(strideOf(edgeProgram(0)), edgeProgram(0).points, LEVELS * 2),
  nodes: new InstanceLayer(strideOf(NODE_PROGRAM), NODE_PROGRAM.points, LEVELS),
});

interface GpuBuffer {
  readonly buffer: WebGLBuffer;
  readonly vertexArray: WebGLVertexArrayObject;
}

interface RendererHandlers {
  /** Called when a lost context is restored and the map must be drawn again. */
  onRestored(): void;
  /** Called with the reason when nothing can be drawn. */
  onFailed(reason: string): void;
}

/** Time to wait for a lost context; it is usually restored within a second, when the graphics driver has restarted. */
const RESTORE_MS = 5000;

export class GlRenderer {
  readonly #canvas: HTMLCanvasElement;
  readonly #gl: WebGL2RenderingContext;
  #programs: Map<QuadProgram, CompiledProgram> = new Map();
  #buffers = new Map<InstanceBuffer, GpuBuffer>();
  /** The indexes of the triangles for at least the largest number of quads that a frame has drawn. */
  #indexes: { readonly buffer: WebGLBuffer; quads: number } | undefined;
  #vertices = new Uint32Array();

  constructor(canvas: HTMLCanvasElement, { onRestored, onFailed }: RendererHandlers) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.#canvas = canvas;
    this.#gl = gl;
    this.#compile();
    let timer: ReturnType<typeof setTimeout> | undefined;
    canvas.addEventListener("webglcontextlost", (event) => {
      // Without this call the context is not restored.
      event.preventDefault();
      clearTimeout(timer);
      timer = setTimeout(() => onFailed("the browser has taken away WebGL 2"), RESTORE_MS);
    });
    canvas.addEventListener("webglcontextrestored", () => {
      clearTimeout(timer);
      try {
        this.#compile();
        onRestored();
      } catch (error) {
        onFailed(errorMessage(error));
      }
    });
  }

  /** False until the browser restores a context that was lost. */
  get canDraw(): boolean {
    return this.#programs.size > 0 && !this.#gl.isContextLost();
  }

  /** Returns the number of instances that were drawn. */
  draw({ edges, nodes, cardReach }: Scene, projection: Projection): number {
    const gl = this.#gl;
    const { pixelRatio } = projection;
    const [width, height] = [projection.width, projection.height].map((size) =>
      Math.round(size * pixelRatio),
    );
    if (width !== undefined && this.#canvas.width !== width) this.#canvas.width = width;
    if (height !== undefined && this.#canvas.height !== height) this.#canvas.height = height;
    gl.viewport(0, 0, this.#canvas.width, this.#canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const view = viewOf(projection, cardReach);
    let drawn = 0;
    for (const [level, instances] of edges.levels.entries())
      drawn += this.#drawInstances(edgeProgram(level), instances, projection, view, pixelRatio);
    for (const instances of nodes.levels)
      drawn += this.#drawInstances(NODE_PROGRAM, instances, projection, view, pixelRatio);
    gl.bindVertexArray(null);
    return drawn;
  }

  #drawInstances(
    source: QuadProgram,
    instances: InstanceBuffer,
    projection: Projection,
    view: Bounds,
    pixelRatio: number,
  ): number {
    const gl = this.#gl;
    const compiled = this.#programs.get(source);
    const words = instances.inView(view);
    const count = words.length / instances.stride;
    if (!compiled || count === 0) return 0;
    const { program, uniforms } = compiled;
    gl.useProgram(program);
    gl.uniform2f(uniforms.u_centre, projection.centre.x, projection.centre.y);
    gl.uniform1f(uniforms.u_scale, projection.scale);
    gl.uniform2f(uniforms.u_viewport, projection.width, projection.height);
    gl.uniform1f(uniforms.u_radius, projection.radiusPx);
    gl.uniform1f(uniforms.u_pixelRatio, pixelRatio);
    const indexes = this.#indexesFor(count);
    const { buffer, vertexArray } = this.#bufferOf(source, compiled, instances, indexes);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.#repeat(words, instances.stride), gl.STREAM_DRAW);
    gl.bindVertexArray(vertexArray);
    gl.drawElements(gl.TRIANGLES, count * TRIANGLES.length, gl.UNSIGNED_INT, 0);
    return count;
  }

  /** Repeats the words of each instance for each corner of its quad. */
  #repeat(words: Uint32Array, stride: number): Uint32Array {
    const length = words.length * CORNERS;
    if (this.#vertices.length < length) this.#vertices = new Uint32Array(length * 2);
    const vertices = this.#vertices;
    let to = 0;
    for (let from = 0; from < words.length; from += stride) {
      for (let corner = 0; corner < CORNERS; corner++) {
        for (let i = 0; i < stride; i++) vertices[to++] = words[from + i] ?? 0;
      }
    }
    return vertices.subarray(0, length);
  }

  #indexesFor(quads: number): WebGLBuffer {
    const gl = this.#gl;
    this.#indexes ??= { buffer: gl.createBuffer(), quads: 0 };
    if (this.#indexes.quads >= quads) return this.#indexes.buffer;
    this.#indexes.quads = quads * 2;
    const indexes = new Uint32Array(this.#indexes.quads * TRIANGLES.length);
    for (let i = 0; i < indexes.length; i++) {
      const quad = Math.floor(i / TRIANGLES.length);
      indexes[i] = quad * CORNERS + (TRIANGLES[i % TRIANGLES.length] ?? 0);
    }
    gl.bindVertexArray(null);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.#indexes.buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indexes, gl.STATIC_DRAW);
    return this.#indexes.buffer;
  }

  #bufferOf(
    source: QuadProgram,
    compiled: CompiledProgram,
    instances: InstanceBuffer,
    indexes: WebGLBuffer,
  ): GpuBuffer {
    let target = this.#buffers.get(instances);
    if (!target) {
      const buffer = this.#gl.createBuffer();
      target = { buffer, vertexArray: createVertexArray(this.#gl, compiled, source, buffer, indexes) };
      this.#buffers.set(instances, target);
    }
    return target;
  }

  #compile(): void {
    this.#buffers = new Map();
    this.#indexes = undefined;
    this.#programs = new Map();
    this.#programs = new Map(
      [...EDGE_PROGRAMS, NODE_PROGRAM].map((source) => [source, compileProgram(this.#gl, source)]),
    );
  }
}

/** The visible section in map units, with a margin. */
function viewOf({ width, height, scale, toMap }: Projection, cardReach: number): Bounds {
  const margin = MARGIN_PX + cardReach * scale;
  const topLeft = toMap({ x: -margin, y: -margin });
  const bottomRight = toMap({ x: width + margin, y: height + margin });
  return { left: topLeft.x, right: bottomRight.x, bottom: bottomRight.y, top: topLeft.y };
}
