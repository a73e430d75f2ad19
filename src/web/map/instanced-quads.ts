/**
 * What the node program and the edge program have in common. Each draws all its elements in one call, as instances of a
 * quad, and gets the camera as uniforms.
 */
import type { ProgramInfo } from "sigma/rendering";
import type { RenderParams } from "sigma/types";

const UNIFORMS = ["u_matrix", "u_sizeRatio", "u_correctionRatio", "u_pixelRatio"] as const;
export type Uniform = (typeof UNIFORMS)[number];

const { FLOAT, UNSIGNED_BYTE, TRIANGLE_STRIP } = WebGL2RenderingContext;

export const floatAttribute = (name: string, size: number) => ({ name, size, type: FLOAT });
export const colorAttribute = (name: string) => ({ name, size: 4, type: UNSIGNED_BYTE, normalized: true });
type Attribute = ReturnType<typeof floatAttribute> | ReturnType<typeof colorAttribute>;

/** `corners` are the vertices of a strip of two triangles. The vertex shader gets them as `a_corner`. */
export function quadProgram(
  vertexShader: string,
  fragmentShader: string,
  corners: [number, number][],
  attributes: Attribute[],
) {
  return {
    VERTICES: corners.length,
    VERTEX_SHADER_SOURCE: vertexShader,
    FRAGMENT_SHADER_SOURCE: fragmentShader,
    METHOD: TRIANGLE_STRIP,
    UNIFORMS,
    ATTRIBUTES: attributes,
    CONSTANT_ATTRIBUTES: [floatAttribute("a_corner", 2)],
    CONSTANT_DATA: corners,
  };
}

export function setCameraUniforms(
  params: RenderParams,
  { gl, uniformLocations }: ProgramInfo<Uniform>,
): void {
  gl.uniformMatrix3fv(uniformLocations.u_matrix, false, params.matrix);
  gl.uniform1f(uniformLocations.u_sizeRatio, params.sizeRatio);
  gl.uniform1f(uniformLocations.u_correctionRatio, params.correctionRatio);
  gl.uniform1f(uniformLocations.u_pixelRatio, params.pixelRatio);
}
