/**
 * Draws nodes. Each is a square of pixels in which the fragment shader computes the distance to the outline, so that shapes
 * are sharp at every zoom. A symbol or a ring shows the state in addition to the colour.
 */
import type { Size } from "../../layout/adjacency.ts";
import type { WordWriter } from "./instance-layer.ts";
import { bytes, CAMERA_UNIFORMS, color, float, type QuadProgram } from "./quad-program.ts";
import type { NodeStyle } from "./style.ts";

const VERTEX_SHADER = /*glsl*/ `#version 300 es
in vec2 a_position;
in vec2 a_size;
// Shape, symbol, ring, dashed.
in vec4 a_marks;
in vec4 a_color;
in vec4 a_fill;
${CAMERA_UNIFORMS}
uniform float u_radius;
flat out vec4 v_color;
flat out vec4 v_fill;
out vec2 v_pixel;
flat out float v_radius;
flat out vec2 v_half;
flat out float v_shape;
flat out float v_symbol;
flat out float v_ring;
flat out float v_dashed;
void main() {
  // Half the width and half the height. The size of a card is in map units, that of other shapes in radii of a device.
  v_half = a_size * (a_marks.x > 4.5 ? u_scale : u_radius);
  v_radius = min(v_half.x, v_half.y);
  // Larger than the shape, for its corners and the ring around it.
  vec2 halfSize = v_half * (a_marks.x > 4.5 ? 1.0 : 1.5) + (a_marks.z > 2.5 ? 11.0 : a_marks.z > 0.5 ? 8.0 : 1.0);
  v_pixel = (corner() * 2.0 - 1.0) * halfSize;
  gl_Position = toClip(toPixel(a_position) + v_pixel);
  v_shape = a_marks.x;
  v_symbol = a_marks.y;
  v_ring = a_marks.z;
  v_dashed = a_marks.w;
  v_fill = a_fill;
  v_color = a_color;
}`;

const FRAGMENT_SHADER = /*glsl*/ `#version 300 es
precision highp float;
flat in vec4 v_color;
flat in vec4 v_fill;
in vec2 v_pixel;
flat in float v_radius;
flat in vec2 v_half;
flat in float v_shape;
flat in float v_symbol;
flat in float v_ring;
flat in float v_dashed;
uniform float u_pixelRatio;
out vec4 o_color;

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
  return box(p, v_half, min(r * 0.4, 7.0));
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
  if (d > (v_ring > 2.5 ? 10.0 : v_ring > 0.5 ? 7.0 : 1.5)) discard;
  float line = clamp(v_radius * 0.2, 0.9, 1.8);
  // Most pixels of a large card are inside its border, where only the fill is drawn.
  if (v_shape > 4.5 && v_symbol < 0.5 && d < -line - 1.0) {
    o_color = vec4(v_fill.rgb * v_fill.a, v_fill.a);
    return;
  }
  vec4 color = vec4(0.0);
  // The rings are the numbers of RINGS in style.ts.
  if (v_ring > 2.5) {
    color = over(color, v_color.rgb, coverage(d - 8.5) * 0.4 * v_color.a);
  } else if (v_ring > 0.5) {
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
  // A card is crossed out from corner to corner.
  vec2 diagonal = v_shape > 4.5 ? v_half * 0.92 : vec2(arm);
  float stroke = max(0.7, line * 0.55);
  // The distance to the lines of the symbol, by the numbers of SYMBOLS in style.ts.
  float symbol = 1e6;
  if (v_symbol > 0.5 && v_symbol < 1.5) {
    vec2 other = vec2(diagonal.x, -diagonal.y);
    symbol = min(segment(v_pixel, -diagonal, diagonal), segment(v_pixel, -other, other));
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
  o_color = color;
}`;

export const NODE_PROGRAM: QuadProgram = {
  vertexShader: VERTEX_SHADER,
  fragmentShader: FRAGMENT_SHADER,
  points: 1,
  attributes: [
    float("a_position", 2),
    float("a_size", 2),
    bytes("a_marks"),
    color("a_color"),
    color("a_fill"),
  ],
};

interface NodeInstance extends NodeStyle {
  readonly x: number;
  readonly y: number;
  /** Half the width and half the height: of a card in map units, of other shapes in radii of a device. */
  readonly size: Size;
}

export function encodeNode(writer: WordWriter, node: NodeInstance): Uint32Array {
  return writer
    .begin()
    .floats(node.x, node.y, node.size.width, node.size.height)
    .bytes(node.shape, node.symbol, node.ring, node.dashed)
    .color(node.color)
    .color(node.fill)
    .end();
}
