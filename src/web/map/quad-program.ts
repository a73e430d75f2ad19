/**
 * The common parts of the shaders of nodes and edges: quads, attributes of 32-bit words, the camera. Each instance is four
 * vertices with the same words. Instanced draw calls are not used, because a software renderer handles each instance of
 * such a call as a separate draw call.
 */
export interface QuadProgram {
  readonly vertexShader: string;
  readonly fragmentShader: string;
  /** The attributes of an instance, its points first. */
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
/** An attribute of four integers from 0 to 255. */
export const bytes = (name: string): Attribute => ({ name, size: 4, words: 1, kind: "bytes" });
export const color = (name: string): Attribute => ({ name, size: 4, words: 1, kind: "color" });

export const strideOf = ({ attributes }: QuadProgram): number =>
  attributes.reduce((sum, { words }) => sum + words, 0);

/** The camera. Positions are in map units; pixels are relative to the centre of the viewport. In both, y points upwards. */
export const CAMERA_UNIFORMS = /*glsl*/ `
uniform vec2 u_centre;
uniform float u_scale;
uniform vec2 u_viewport;
vec2 toPixel(vec2 position) { return (position - u_centre) * u_scale; }
vec4 toClip(vec2 pixel) { return vec4(pixel * 2.0 / u_viewport, 0.0, 1.0); }
// The corner of the quad that the vertex is, from 0 to 1.
vec2 corner() { return vec2(gl_VertexID & 1, (gl_VertexID >> 1) & 1); }
`;
export const CORNERS = 4;
/** The triangles of a quad, as indexes of its corners. */
export const TRIANGLES = [0, 1, 2, 2, 1, 3] as const;

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

export function createVertexArray(
  gl: WebGL2RenderingContext,
  { program }: CompiledProgram,
  source: QuadProgram,
  vertices: WebGLBuffer,
  indexes: WebGLBuffer,
): WebGLVertexArrayObject {
  const vertexArray = gl.createVertexArray();
  gl.bindVertexArray(vertexArray);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indexes);
  gl.bindBuffer(gl.ARRAY_BUFFER, vertices);
  const strideBytes = strideOf(source) * 4;
  let offset = 0;
  for (const { name, size, words, kind } of source.attributes) {
    const location = gl.getAttribLocation(program, name);
    const type = kind === "float" ? gl.FLOAT : gl.UNSIGNED_BYTE;
    // A shader need not use every attribute.
    if (location >= 0) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, size, type, kind === "color", strideBytes, offset);
    }
    offset += words * 4;
  }
  gl.bindVertexArray(null);
  return vertexArray;
}
