/**
 * Draws all lines in one call. A line tells its state by its stroke: whole, dashed (inactive), dotted (not verified),
 * double (conflict), and by an arrow in its middle when only one direction works. Widths are in pixels at every zoom,
 * and parallel cables lie side by side.
 */
import type Sigma from "sigma";
import { EdgeProgram, type ProgramInfo } from "sigma/rendering";
import type { EdgeDisplayData, NodeDisplayData, RenderParams } from "sigma/types";
import { floatColor } from "sigma/utils";
import { colour, numbers, quads, setCamera, type Uniform } from "./instanced-quads.ts";
import type { LineLook } from "./style.ts";

const VERTEX = /*glsl*/ `
attribute vec4 a_color;
attribute vec2 a_start;
attribute vec2 a_end;
attribute float a_width;
attribute float a_stroke;
attribute float a_arrow;
attribute float a_offset;
attribute vec2 a_corner;
uniform mat3 u_matrix;
uniform float u_correctionRatio;
uniform float u_sizeRatio;
varying vec4 v_color;
varying vec2 v_at;
varying float v_length;
varying float v_width;
varying float v_stroke;
varying float v_arrow;
void main() {
  float pixel = 2.0 * u_correctionRatio;
  vec2 way = a_end - a_start;
  float far = max(length(way), 1e-9);
  vec2 normal = vec2(-way.y, way.x) / far;
  float reach = a_width * 0.5 + 1.0 + max(a_arrow * 5.0, a_stroke > 2.5 ? 2.0 : 0.0);
  vec2 position = a_start + way * a_corner.x + normal * (a_corner.y * reach + a_offset) * pixel;
  gl_Position = vec4((u_matrix * vec3(position, 1)).xy, 0, 1);
  v_length = far / pixel;
  v_at = vec2(a_corner.x * v_length, a_corner.y * reach);
  // Seen from far, ordinary lines step back, or a fabric would be a blot.
  float presence = a_width < 1.5 ? clamp(0.16 / u_sizeRatio, 0.35, 1.0) : 1.0;
  v_width = a_width * max(presence, 0.75);
  v_stroke = a_stroke;
  v_arrow = a_arrow;
  v_color = a_color;
  v_color.a *= presence;
  v_color.a *= 255.0 / 254.0;
}`;

const FRAGMENT = /*glsl*/ `
precision highp float;
varying vec4 v_color;
varying vec2 v_at;
varying float v_length;
varying float v_width;
varying float v_stroke;
varying float v_arrow;
uniform float u_pixelRatio;
float cover(float d) {
  float feather = 0.5 / u_pixelRatio + 0.1;
  return 1.0 - smoothstep(-feather, feather, d);
}
void main(void) {
  float across = abs(v_at.y);
  float alpha = cover(across - v_width * 0.5);
  if (v_stroke > 2.5) alpha = cover(abs(across - 2.0) - 0.65);
  else if (v_stroke > 1.5) alpha = cover(length(vec2(mod(v_at.x, 5.0) - 2.5, across)) - max(1.0, v_width * 0.6));
  else if (v_stroke > 0.5) alpha *= cover(abs(mod(v_at.x, 9.0) - 4.5) - 2.7);
  if (v_arrow > 0.5) {
    float x = v_at.x - v_length * 0.5;
    float head = max(abs(x) - 5.0, across - (5.0 - x) * 0.5);
    alpha = max(alpha, cover(head));
  }
  alpha *= v_color.a;
  gl_FragColor = vec4(v_color.rgb * alpha, alpha);
}`;

const CORNERS: [number, number][] = [
  [0, -1],
  [1, -1],
  [0, 1],
  [1, 1],
];

export class LineProgram extends EdgeProgram<Uniform> {
  /** Nothing is ever picked by colour: no buffer for it, and no second drawing into it. */
  constructor(gl: WebGLRenderingContext, _picking: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }

  getDefinition() {
    return quads(VERTEX, FRAGMENT, CORNERS, [
      numbers("a_start", 2),
      numbers("a_end", 2),
      numbers("a_width", 1),
      numbers("a_stroke", 1),
      numbers("a_arrow", 1),
      numbers("a_offset", 1),
      colour("a_color"),
    ]);
  }

  processVisibleItem(
    _edgeIndex: number,
    startIndex: number,
    source: NodeDisplayData,
    target: NodeDisplayData,
    data: EdgeDisplayData & Partial<LineLook>,
  ): void {
    const values = [
      source.x,
      source.y,
      target.x,
      target.y,
      data.size,
      data.stroke ?? 0,
      data.arrow ?? 0,
      data.offset ?? 0,
      floatColor(data.color),
    ];
    this.array.set(values, startIndex);
  }

  setUniforms(params: RenderParams, program: ProgramInfo<Uniform>): void {
    setCamera(params, program);
  }
}
