/**
 * Draws the instances of the map with WebGL: the lines of cables, then the nodes. It sends only what is in view to the GPU
 * and holds nothing but buffers, so that a lost context is restored from the layers.
 */
import type { Bounds } from "./camera.ts";
import { EDGE_PROGRAM } from "./edge-program.ts";
import type { InstanceBuffer } from "./instance-buffer.ts";
import { InstanceLayer } from "./instance-layer.ts";
import { NODE_PROGRAM } from "./node-program.ts";
import type { Projection } from "./projection.ts";
import {
  type CompiledProgram,
  compileProgram,
  createVertexArray,
  type QuadProgram,
  strideOf,
} from "./quad-program.ts";

/** Dimmed, normal, notable, and selected or on a path. */
const LEVELS = 4;
/** How far an instance is drawn around its points at most: a card with a ring. */
const MARGIN_PX = 80;

/** What is drawn at one time: the devices or the clusters. */
export interface Scene {
  readonly edges: InstanceLayer;
  readonly nodes: InstanceLayer;
}

export const createScene = (): Scene => ({
  edges: new InstanceLayer(strideOf(EDGE_PROGRAM), EDGE_PROGRAM.points, LEVELS),
  nodes: new InstanceLayer(strideOf(NODE_PROGRAM), NODE_PROGRAM.points, LEVELS),
});

interface GpuBuffer {
  readonly buffer: WebGLBuffer;
  readonly vertexArray: WebGLVertexArrayObject;
}

export class GlRenderer {
  readonly #canvas: HTMLCanvasElement;
  readonly #gl: WebGL2RenderingContext;
  #programs: Map<QuadProgram, CompiledProgram> = new Map();
  #buffers = new Map<InstanceBuffer, GpuBuffer>();

  constructor(canvas: HTMLCanvasElement, onRestored: () => void) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.#canvas = canvas;
    this.#gl = gl;
    this.#compile();
    // Without preventDefault the context is not restored.
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#compile();
      onRestored();
    });
  }

  /** Returns the number of instances that were drawn. */
  draw({ edges, nodes }: Scene, projection: Projection): number {
    const gl = this.#gl;
    const pixelRatio = devicePixelRatio || 1;
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
    return (
      this.#drawLayer(EDGE_PROGRAM, edges, projection, pixelRatio) +
      this.#drawLayer(NODE_PROGRAM, nodes, projection, pixelRatio)
    );
  }

  #drawLayer(source: QuadProgram, layer: InstanceLayer, projection: Projection, pixelRatio: number): number {
    const gl = this.#gl;
    const compiled = this.#programs.get(source);
    if (!compiled) return 0;
    const { program, uniforms } = compiled;
    gl.useProgram(program);
    gl.uniform2f(uniforms.u_centre, projection.centre.x, projection.centre.y);
    gl.uniform1f(uniforms.u_scale, projection.scale);
    gl.uniform2f(uniforms.u_viewport, projection.width, projection.height);
    gl.uniform1f(uniforms.u_radius, projection.radiusPx);
    gl.uniform1f(uniforms.u_pixelRatio, pixelRatio);
    const view = viewOf(projection);
    let drawn = 0;
    for (const instances of layer.levels) {
      const words = instances.inView(view);
      const count = words.length / instances.stride;
      if (count === 0) continue;
      const { buffer, vertexArray } = this.#bufferOf(source, compiled, instances);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, words, gl.STREAM_DRAW);
      gl.bindVertexArray(vertexArray);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, source.corners.length / 2, count);
      drawn += count;
    }
    gl.bindVertexArray(null);
    return drawn;
  }

  #bufferOf(source: QuadProgram, compiled: CompiledProgram, instances: InstanceBuffer): GpuBuffer {
    let target = this.#buffers.get(instances);
    if (!target) {
      const buffer = this.#gl.createBuffer();
      target = { buffer, vertexArray: createVertexArray(this.#gl, compiled, source, buffer) };
      this.#buffers.set(instances, target);
    }
    return target;
  }

  #compile(): void {
    this.#buffers = new Map();
    this.#programs = new Map(
      [EDGE_PROGRAM, NODE_PROGRAM].map((source) => [source, compileProgram(this.#gl, source)]),
    );
  }
}

/** In map units. */
function viewOf({ width, height, toMap }: Projection): Bounds {
  const topLeft = toMap({ x: -MARGIN_PX, y: -MARGIN_PX });
  const bottomRight = toMap({ x: width + MARGIN_PX, y: height + MARGIN_PX });
  return { left: topLeft.x, right: bottomRight.x, bottom: bottomRight.y, top: topLeft.y };
}
