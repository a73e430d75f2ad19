/** What the shaders of nodes and edges have in common: instances of a quad, attributes of 32-bit words, the camera. */
export interface QuadProgram {
  readonly vertexShader: string;
  readonly fragmentShader: string;
  /** The vertices of a strip of two triangles, which the vertex shader gets as `a_corner`. */
  readonly corners: readonly number[];
  /** The first of them are the points of an instance. */
  readonly attributes: readonly Attribute[];
  readonly points: 1 | 2;
}

interface Attribute {
  readonly name: string;
  /** The number of components. */
  readonly size: number;
  readonly words: number;
  readonly kind: "float" | "bytes" | "color";
}

export const float = (name: string, size: number): Attribute => ({ name, size, words: size, kind: "float" });
/** Four integers from 0 to 255. */
export const bytes = (name: string): Attribute => ({ name, size: 4, words: 1, kind: "bytes" });
export const color = (name: string): Attribute => ({ name, size: 4, words: 1, kind: "color" });

export const strideOf = ({ attributes }: QuadProgram): number =>
  attributes.reduce((sum, { words }) => sum + words, 0);

/** Map units with y upwards; pixels relative to the centre of the viewport, y upwards too. */
export const CAMERA_UNIFORMS = /*glsl*/ `
uniform vec2 u_centre;
uniform float u_scale;
uniform vec2 u_viewport;
vec2 toPixel(vec2 position) { return (position - u_centre) * u_scale; }
vec4 toClip(vec2 pixel) { return vec4(pixel * 2.0 / u_viewport, 0.0, 1.0); }
`;

const UNIFORMS = ["u_centre", "u_scale", "u_viewport", "u_radius", "u_pixelRatio"] as const;
type Uniform = (typeof UNIFORMS)[number];

export interface CompiledProgram {
  readonly program: WebGLProgram;
  readonly uniforms: Readonly<Record<Uniform, WebGLUniformLocation | null>>;
}

export function compileProgram(gl: WebGL2RenderingContext, source: QuadProgram): CompiledProgram {
  const program = gl.createProgram();
  gl.attachShader(program, compileShader(gl, gl.VERTEX_SHADER, source.vertexShader));
  gl.attachShader(program, compileShader(gl, gl.FRAGMENT_SHADER, source.fragmentShader));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`the shaders of the map do not link: ${gl.getProgramInfoLog(program)}`);
  const location = (name: Uniform) => gl.getUniformLocation(program, name);
  const [u_centre, u_scale, u_viewport] = [location("u_centre"), location("u_scale"), location("u_viewport")];
  const [u_radius, u_pixelRatio] = [location("u_radius"), location("u_pixelRatio")];
  return { program, uniforms: { u_centre, u_scale, u_viewport, u_radius, u_pixelRatio } };
}

function compileShader(gl: WebGL2RenderingContext, type: number, source: string): WebGLShader {
  const shader = gl.createShader(type);
  if (!shader) throw new Error("this browser cannot create a shader");
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
    throw new Error(`a shader of the map does not compile: ${gl.getShaderInfoLog(shader)}`);
  return shader;
}

/** A vertex array that reads the corners from one buffer and the instances from another. */
export function createVertexArray(
  gl: WebGL2RenderingContext,
  { program }: CompiledProgram,
  source: QuadProgram,
  instances: WebGLBuffer,
): WebGLVertexArrayObject {
  const vertexArray = gl.createVertexArray();
  gl.bindVertexArray(vertexArray);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(source.corners), gl.STATIC_DRAW);
  const corner = gl.getAttribLocation(program, "a_corner");
  gl.enableVertexAttribArray(corner);
  gl.vertexAttribPointer(corner, 2, gl.FLOAT, false, 0, 0);
  gl.bindBuffer(gl.ARRAY_BUFFER, instances);
  const strideBytes = strideOf(source) * 4;
  let offset = 0;
  for (const { name, size, words, kind } of source.attributes) {
    const location = gl.getAttribLocation(program, name);
    const type = kind === "float" ? gl.FLOAT : gl.UNSIGNED_BYTE;
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, kind === "color", strideBytes, offset);
    gl.vertexAttribDivisor(location, 1);
    offset += words * 4;
  }
  gl.bindVertexArray(null);
  return vertexArray;
}
