/**
 * Draws all nodes in one call. Each node is a square of pixels in which the fragment shader computes the distance to the
 * outline, so that shapes are sharp at every zoom. A symbol or a ring shows the state in addition to the colour.
 */
import type Sigma from "sigma";
import { NodeProgram, type ProgramInfo } from "sigma/rendering";
import type { NodeDisplayData, RenderParams } from "sigma/types";
import { floatColor } from "sigma/utils";
import {
  colorAttribute,
  floatAttribute,
  quadProgram,
  setCameraUniforms,
  type Uniform,
} from "./instanced-quads.ts";
import type { NodeStyle } from "./style.ts";

const VERTEX_SHADER = /*glsl*/ `
attribute vec4 a_color;
attribute vec4 a_fill;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;
attribute float a_symbol;
attribute float a_ring;
attribute float a_dashed;
attribute vec2 a_corner;
uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;
varying vec4 v_color;
varying vec4 v_fill;
varying vec2 v_pixel;
varying float v_radius;
varying float v_shape;
varying float v_symbol;
varying float v_ring;
varying float v_dashed;
void main() {
  float radius = a_size / u_sizeRatio;
  // Larger than the shape, for the ring around it.
  float halfSize = radius * 1.5 + 8.0;
  vec2 position = a_position + a_corner * halfSize * 2.0 * u_correctionRatio;
  gl_Position = vec4((u_matrix * vec3(position, 1)).xy, 0, 1);
  v_pixel = a_corner * halfSize;
  v_radius = radius;
  v_shape = a_shape;
  v_symbol = a_symbol;
  v_ring = a_ring;
  v_dashed = a_dashed;
  v_fill = a_fill;
  v_color = a_color;
  // sigma packs an opaque colour with an alpha of 254.
  v_color.a *= 255.0 / 254.0;
  v_fill.a *= 255.0 / 254.0;
}`;

const FRAGMENT_SHADER = /*glsl*/ `
precision highp float;
varying vec4 v_color;
varying vec4 v_fill;
varying vec2 v_pixel;
varying float v_radius;
varying float v_shape;
varying float v_symbol;
varying float v_ring;
varying float v_dashed;
uniform float u_pixelRatio;

float box(vec2 p, vec2 half_, float corner) {
  vec2 d = abs(p) - half_ + corner;
  return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0) - corner;
}
float segment(vec2 p, vec2 a, vec2 b) {
  vec2 pa = p - a;
  vec2 ba = b - a;
  return length(pa - ba * clamp(dot(pa, ba) / dot(ba, ba), 0.0, 1.0));
}
// Signed distance to the outline, in pixels; negative inside. The shapes are the numbers of SHAPES in style.ts.
float outline(vec2 p, float r) {
  if (v_shape < 0.5) return length(p) - r;
  if (v_shape < 1.5) return box(p, vec2(r * 0.92), r * 0.28);
  if (v_shape < 2.5) return (abs(p.x) + abs(p.y) - r * 1.22) * 0.7071;
  if (v_shape < 3.5) {
    p = abs(p);
    return max(p.x * 0.866 + p.y * 0.5, p.y) - r * 0.95;
  }
  if (v_shape < 4.5) return max(abs(p.x) * 0.866 + p.y * 0.5, -p.y) - r * 0.62;
  return box(p, vec2(r * 1.15, r * 0.8), r * 0.3);
}
// The coverage of a pixel at the distance d from the edge of a form; negative is inside.
float coverage(float d) {
  float feather = 0.5 / u_pixelRatio + 0.15;
  return 1.0 - smoothstep(-feather, feather, d);
}
// Draws a colour over another one, both premultiplied.
vec4 over(vec4 below, vec3 rgb, float alpha) {
  return vec4(rgb * alpha, alpha) + below * (1.0 - alpha);
}
void main(void) {
  float d = outline(v_pixel, v_radius);
  float line = clamp(v_radius * 0.2, 0.9, 1.8);
  vec4 color = vec4(0.0);
  if (v_ring > 0.5) {
    float gap = v_ring > 1.5 ? 4.0 : 3.0;
    float width = v_ring > 1.5 ? 1.4 : 0.9;
    color = over(color, v_color.rgb, coverage(abs(d - gap) - width) * v_color.a);
  }
  color = over(color, v_fill.rgb, coverage(d) * v_fill.a);
  float border = coverage(abs(d + line * 0.5) - line * 0.5);
  // Eight dashes around the centre, whatever the shape is.
  if (v_dashed > 0.5) border *= step(0.4, fract(atan(v_pixel.y, v_pixel.x) * 1.27324));
  color = over(color, v_color.rgb, border * v_color.a);
  float arm = v_radius * 0.42;
  float stroke = max(0.7, line * 0.55);
  // The distance to the lines of the symbol, by the numbers of SYMBOLS in style.ts.
  float symbol = 1e6;
  if (v_symbol > 0.5 && v_symbol < 1.5) {
    symbol = min(segment(v_pixel, vec2(-arm), vec2(arm)), segment(v_pixel, vec2(-arm, arm), vec2(arm, -arm)));
  } else if (v_symbol > 1.5 && v_symbol < 2.5) {
    symbol = min(segment(v_pixel, vec2(0.0, arm * 1.2), vec2(0.0, -arm * 0.25)), length(v_pixel + vec2(0.0, arm * 1.1)));
  } else if (v_symbol > 2.5 && v_symbol < 3.5) {
    symbol = min(segment(v_pixel, vec2(-arm, 0.0), vec2(arm, 0.0)), segment(v_pixel, vec2(0.0, -arm), vec2(0.0, arm)));
  } else if (v_symbol > 3.5 && v_symbol < 4.5) {
    symbol = segment(v_pixel, vec2(-arm, 0.0), vec2(arm, 0.0));
  } else if (v_symbol > 4.5 && v_symbol < 5.5) {
    symbol = length(v_pixel) - arm * 0.45;
  } else if (v_symbol > 5.5) {
    symbol = min(
      abs(abs(v_pixel.y) - arm * 0.45) + max(0.0, abs(v_pixel.x) - arm),
      segment(v_pixel, vec2(-arm * 0.6, -arm), vec2(arm * 0.6, arm))
    );
  }
  color = over(color, v_color.rgb, coverage(symbol - stroke) * v_color.a);
  gl_FragColor = color;
}`;

const CORNERS: [number, number][] = [
  [-1, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
];

export class MapNodeProgram extends NodeProgram<Uniform> {
  /** Without the picking buffer, sigma does not draw a second time for it. See hit-test.ts. */
  constructor(gl: WebGLRenderingContext, _picking: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }

  getDefinition() {
    return quadProgram(VERTEX_SHADER, FRAGMENT_SHADER, CORNERS, [
      floatAttribute("a_position", 2),
      floatAttribute("a_size", 1),
      floatAttribute("a_shape", 1),
      floatAttribute("a_symbol", 1),
      floatAttribute("a_ring", 1),
      floatAttribute("a_dashed", 1),
      colorAttribute("a_color"),
      colorAttribute("a_fill"),
    ]);
  }

  processVisibleItem(
    _nodeIndex: number,
    startIndex: number,
    data: NodeDisplayData & Partial<NodeStyle>,
  ): void {
    const values = [
      data.x,
      data.y,
      data.size,
      data.shape ?? 0,
      data.symbol ?? 0,
      data.ring ?? 0,
      data.dashed ?? 0,
      floatColor(data.color),
      floatColor(data.fill ?? data.color),
    ];
    this.array.set(values, startIndex);
  }

  setUniforms(params: RenderParams, program: ProgramInfo<Uniform>): void {
    setCameraUniforms(params, program);
  }
}
