/**
 * Draws the lines of cables, one quad for each segment of a line. The stroke shows the state: solid, dashed (inactive or
 * missing), long-dashed (some of its cables inactive), dotted (not verified), double (conflict) or dash-dotted (differs from
 * the plan). An arrow in the middle shows that only one direction works, a cross that the link is lost. Widths are in pixels
 * at every zoom. Dashes continue from one segment to the next.
 */
import type { WordWriter } from "./instance-layer.ts";
import { bytes, CAMERA_UNIFORMS, color, float, type QuadProgram } from "./quad-program.ts";
import { type EdgeStyle, LINE_SIGNS, STROKES } from "./style.ts";

/** The common start of both vertex shaders: the ends and directions of the segment, its opacity and width. */
const SEGMENT = /*glsl*/ `  vec2 start = toPixel(a_start);
  vec2 end = toPixel(a_end);
  float segmentLength = length(end - start);
  vec2 along = segmentLength > 1e-6 ? (end - start) / segmentLength : vec2(1.0, 0.0);
  vec2 normal = vec2(-along.y, along.x);
  // The many lines of a fabric would cover the map at a low zoom.
  float opacity = a_marks.z > 0.5 ? clamp(0.16 * u_radius, 0.35, 1.0) : 1.0;
  float width = a_width * (a_marks.z > 0.5 ? clamp(0.16 * u_radius, 0.6, 1.0) : 1.0);
`;

const VERTEX_SHADER = /*glsl*/ `#version 300 es
in vec2 a_start;
in vec2 a_end;
// The length of the line before this segment, in map units.
in float a_before;
in float a_width;
// Stroke, sign, whether the line is more transparent at a low zoom.
in vec4 a_marks;
in vec4 a_color;
${CAMERA_UNIFORMS}
uniform float u_radius;
flat out vec4 v_color;
out vec2 v_pixel;
flat out float v_length;
flat out float v_before;
flat out float v_width;
flat out float v_stroke;
flat out float v_sign;
void main() {
${SEGMENT}  float halfWidth = width * 0.5 + 1.0;
  if (a_marks.y > 0.5) halfWidth = max(halfWidth, 6.0);
  if (a_marks.x > 2.5 && a_marks.x < 3.5) halfWidth += 2.0;
  // Beyond both ends by half the width, for round ends that join the segments.
  float x = mix(-width * 0.5 - 0.5, segmentLength + width * 0.5 + 0.5, corner().x);
  gl_Position = toClip(start + along * x + normal * (corner().y * 2.0 - 1.0) * halfWidth);
  v_pixel = vec2(x, (corner().y * 2.0 - 1.0) * halfWidth);
  v_length = segmentLength;
  v_before = a_before * u_scale;
  v_width = width;
  v_stroke = a_marks.x;
  v_sign = a_marks.y;
  v_color = a_color;
  v_color.a *= opacity;
}`;

const FRAGMENT_SHADER = /*glsl*/ `#version 300 es
precision highp float;
flat in vec4 v_color;
in vec2 v_pixel;
flat in float v_length;
flat in float v_before;
flat in float v_width;
flat in float v_stroke;
flat in float v_sign;
uniform float u_pixelRatio;
out vec4 o_color;
// The coverage of a pixel at the distance d from the edge of a form; negative is inside.
float coverage(float d) {
  float feather = 0.5 / u_pixelRatio + 0.1;
  return 1.0 - smoothstep(-feather, feather, d);
}
void main(void) {
  float beyond = max(max(-v_pixel.x, v_pixel.x - v_length), 0.0);
  float fromCentre = abs(v_pixel.y);
  float alpha = coverage(length(vec2(beyond, fromCentre)) - v_width * 0.5);
  float x = v_before + v_pixel.x;
  // The numbers of STROKES in style.ts.
  if (v_stroke > 4.5) alpha *= coverage(abs(mod(x, 24.0) - 12.0) - 9.0);
  else if (v_stroke > 3.5) alpha *= coverage(min(abs(mod(x, 14.0) - 4.0) - 4.0, abs(mod(x, 14.0) - 11.0) - 1.0));
  else if (v_stroke > 2.5) alpha = beyond > 0.0 ? 0.0 : coverage(abs(fromCentre - 1.0 - v_width * 0.5) - 0.65);
  else if (v_stroke > 1.5) alpha = coverage(length(vec2(mod(x, 5.0) - 2.5, fromCentre)) - max(1.0, v_width * 0.6));
  else if (v_stroke > 0.5) alpha *= coverage(abs(mod(x, 9.0) - 4.5) - 2.7);
  // The numbers of LINE_SIGNS in style.ts.
  float fromMiddle = v_pixel.x - v_length * 0.5;
  if (v_sign > 2.5) {
    vec2 p = abs(vec2(fromMiddle, v_pixel.y));
    float cross = max(abs(p.x - p.y) * 0.7071 - 1.1, max(p.x, p.y) - 5.0);
    // The line ends before the cross, so that the cross is seen as one.
    alpha = max(p.x < 8.0 ? 0.0 : alpha, coverage(cross));
  } else if (v_sign > 0.5) {
    float middle = fromMiddle * (v_sign > 1.5 ? -1.0 : 1.0);
    alpha = max(alpha, coverage(max(abs(middle) - 5.0, fromCentre - (5.0 - middle) * 0.5)));
  }
  alpha *= v_color.a;
  o_color = vec4(v_color.rgb * alpha, alpha);
}`;

const PLAIN_VERTEX_SHADER = /*glsl*/ `#version 300 es
in vec2 a_start;
in vec2 a_end;
in float a_width;
in vec4 a_marks;
in vec4 a_color;
${CAMERA_UNIFORMS}
uniform float u_radius;
flat out vec4 v_color;
flat out float v_half;
out float v_across;
void main() {
${SEGMENT}  v_half = width * 0.5 + 0.5;
  v_across = (corner().y * 2.0 - 1.0) * v_half;
  float x = mix(-width * 0.5, segmentLength + width * 0.5, corner().x);
  gl_Position = toClip(start + along * x + normal * v_across);
  v_color = vec4(a_color.rgb, 1.0) * a_color.a * opacity;
}`;

const PLAIN_FRAGMENT_SHADER = /*glsl*/ `#version 300 es
precision highp float;
flat in vec4 v_color;
flat in float v_half;
in float v_across;
out vec4 o_color;
void main(void) {
  o_color = v_color * clamp(v_half - abs(v_across), 0.0, 1.0);
}`;

const INSTANCE = {
  points: 2,
  attributes: [
    float("a_start", 2),
    float("a_end", 2),
    float("a_before", 1),
    float("a_width", 1),
    bytes("a_marks"),
    color("a_color"),
  ],
} as const;

const EDGE_PROGRAM: QuadProgram = {
  ...INSTANCE,
  vertexShader: VERTEX_SHADER,
  fragmentShader: FRAGMENT_SHADER,
};

/** The program for solid lines without a sign, which are the most. A software renderer draws them several times as fast. */
const PLAIN_EDGE_PROGRAM: QuadProgram = {
  ...INSTANCE,
  vertexShader: PLAIN_VERTEX_SHADER,
  fragmentShader: PLAIN_FRAGMENT_SHADER,
};

export const EDGE_PROGRAMS = [EDGE_PROGRAM, PLAIN_EDGE_PROGRAM] as const;

/** The maximum width of a line that the plain program draws. A wider line needs round ends, which join its segments. */
const MAX_PLAIN_WIDTH = 2.5;

/** Splits each level of lines in two: plain lines, and above them the others. */
export const edgeLevel = (level: number, { stroke, sign, size }: EdgeStyle): number =>
  level * 2 + (stroke === STROKES.solid && sign === LINE_SIGNS.none && size <= MAX_PLAIN_WIDTH ? 0 : 1);

export const edgeProgram = (edgeLevel: number): QuadProgram =>
  edgeLevel % 2 === 0 ? PLAIN_EDGE_PROGRAM : EDGE_PROGRAM;

/** `points` are the x and y of the corners of the line, flat. The sign is on the longest segment. */
export function encodeEdge(writer: WordWriter, points: Float64Array, style: EdgeStyle): Uint32Array {
  writer.begin();
  const signSegment = style.sign > LINE_SIGNS.none ? longestSegment(points) : -1;
  let before = 0;
  for (let i = 0; i + 3 < points.length; i += 2) {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [points[i], points[i + 1], points[i + 2], points[i + 3]];
    writer
      .floats(x1, y1, x2, y2, before, style.size)
      .bytes(style.stroke, i === signSegment ? style.sign : LINE_SIGNS.none, style.fades ? 1 : 0)
      .color(style.color);
    before += Math.hypot(x2 - x1, y2 - y1);
  }
  return writer.end();
}

function longestSegment(points: Float64Array): number {
  let [longest, length] = [0, -1];
  for (let i = 0; i + 3 < points.length; i += 2) {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [points[i], points[i + 1], points[i + 2], points[i + 3]];
    const own = Math.hypot(x2 - x1, y2 - y1);
    if (own > length) [longest, length] = [i, own];
  }
  return longest;
}
