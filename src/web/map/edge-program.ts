/**
 * Draws all edges in one call. The stroke shows the state of a cable: solid, dashed (inactive or
 * missing), dotted (not verified), double (conflict) or dash-dotted (differs from the plan). An arrow in the middle shows that only one direction works. Widths are in pixels at every zoom, and
 * parallel cables are drawn side by side.
 */
import type Sigma from "sigma";
import { EdgeProgram, type ProgramInfo } from "sigma/rendering";
import type { EdgeDisplayData, NodeDisplayData, RenderParams } from "sigma/types";
import { floatColor } from "sigma/utils";
import {
  colorAttribute,
  floatAttribute,
  quadProgram,
  setCameraUniforms,
  type Uniform,
} from "./instanced-quads.ts";
import type { EdgeStyle } from "./style.ts";

const VERTEX_SHADER = /*glsl*/ `
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
varying vec2 v_pixel;
varying float v_length;
varying float v_width;
varying float v_stroke;
varying float v_arrow;
void main() {
  float unitsPerPixel = 2.0 * u_correctionRatio;
  vec2 edge = a_end - a_start;
  float edgeLength = max(length(edge), 1e-9);
  vec2 normal = vec2(-edge.y, edge.x) / edgeLength;
  float halfWidth = a_width * 0.5 + 1.0 + max(a_arrow * 5.0, a_stroke > 2.5 && a_stroke < 3.5 ? 2.0 : 0.0);
  vec2 position = a_start + edge * a_corner.x + normal * (a_corner.y * halfWidth + a_offset) * unitsPerPixel;
  gl_Position = vec4((u_matrix * vec3(position, 1)).xy, 0, 1);
  v_length = edgeLength / unitsPerPixel;
  v_pixel = vec2(a_corner.x * v_length, a_corner.y * halfWidth);
  // At a low zoom thin lines are more transparent, because the many lines of a fabric would cover the map.
  float opacity = a_width < 1.5 ? clamp(0.16 / u_sizeRatio, 0.35, 1.0) : 1.0;
  v_width = a_width * max(opacity, 0.75);
  v_stroke = a_stroke;
  v_arrow = a_arrow;
  v_color = a_color;
  v_color.a *= opacity;
  // sigma packs an opaque colour with an alpha of 254.
  v_color.a *= 255.0 / 254.0;
}`;

const FRAGMENT_SHADER = /*glsl*/ `
precision highp float;
varying vec4 v_color;
varying vec2 v_pixel;
varying float v_length;
varying float v_width;
varying float v_stroke;
varying float v_arrow;
uniform float u_pixelRatio;
// The coverage of a pixel at the distance d from the edge of a form; negative is inside.
float coverage(float d) {
  float feather = 0.5 / u_pixelRatio + 0.1;
  return 1.0 - smoothstep(-feather, feather, d);
}
void main(void) {
  float fromCentre = abs(v_pixel.y);
  float alpha = coverage(fromCentre - v_width * 0.5);
  // The numbers of STROKES in style.ts.
  if (v_stroke > 3.5) alpha *= coverage(min(abs(mod(v_pixel.x, 14.0) - 4.0) - 4.0, abs(mod(v_pixel.x, 14.0) - 11.0) - 1.0));
  else if (v_stroke > 2.5) alpha = coverage(abs(fromCentre - 2.0) - 0.65);
  else if (v_stroke > 1.5) alpha = coverage(length(vec2(mod(v_pixel.x, 5.0) - 2.5, fromCentre)) - max(1.0, v_width * 0.6));
  else if (v_stroke > 0.5) alpha *= coverage(abs(mod(v_pixel.x, 9.0) - 4.5) - 2.7);
  if (v_arrow > 0.5) {
    float x = v_pixel.x - v_length * 0.5;
    float head = max(abs(x) - 5.0, fromCentre - (5.0 - x) * 0.5);
    alpha = max(alpha, coverage(head));
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

export class MapEdgeProgram extends EdgeProgram<Uniform> {
  /** Without the picking buffer, sigma does not draw a second time for it. See hit-test.ts. */
  constructor(gl: WebGLRenderingContext, _picking: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }

  getDefinition() {
    return quadProgram(VERTEX_SHADER, FRAGMENT_SHADER, CORNERS, [
      floatAttribute("a_start", 2),
      floatAttribute("a_end", 2),
      floatAttribute("a_width", 1),
      floatAttribute("a_stroke", 1),
      floatAttribute("a_arrow", 1),
      floatAttribute("a_offset", 1),
      colorAttribute("a_color"),
    ]);
  }

  processVisibleItem(
    _edgeIndex: number,
    startIndex: number,
    source: NodeDisplayData,
    target: NodeDisplayData,
    data: EdgeDisplayData & Partial<EdgeStyle>,
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
    setCameraUniforms(params, program);
  }
}
