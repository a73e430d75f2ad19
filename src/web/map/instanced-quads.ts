/** What the two programs of the map share: instanced quads, one call for all, with the camera as their uniforms. */
import type { ProgramInfo } from "sigma/rendering";
import type { RenderParams } from "sigma/types";

const UNIFORMS = ["u_matrix", "u_sizeRatio", "u_correctionRatio", "u_pixelRatio"] as const;
export type Uniform = (typeof UNIFORMS)[number];

const { FLOAT, UNSIGNED_BYTE, TRIANGLE_STRIP } = WebGL2RenderingContext;

export const numbers = (name: string, size: number) => ({ name, size, type: FLOAT });
export const colour = (name: string) => ({ name, size: 4, type: UNSIGNED_BYTE, normalized: true });

/** `corners` are those of a strip of two triangles; the shader finds them in `a_corner`. */
export function quads(
  vertex: string,
  fragment: string,
  corners: [number, number][],
  attributes: (ReturnType<typeof numbers> | ReturnType<typeof colour>)[],
) {
  return {
    VERTICES: corners.length,
    VERTEX_SHADER_SOURCE: vertex,
    FRAGMENT_SHADER_SOURCE: fragment,
    METHOD: TRIANGLE_STRIP,
    UNIFORMS,
    ATTRIBUTES: attributes,
    CONSTANT_ATTRIBUTES: [numbers("a_corner", 2)],
    CONSTANT_DATA: corners,
  };
}

export function setCamera(params: RenderParams, { gl, uniformLocations }: ProgramInfo<Uniform>): void {
  gl.uniformMatrix3fv(uniformLocations.u_matrix, false, params.matrix);
  gl.uniform1f(uniformLocations.u_sizeRatio, params.sizeRatio);
  gl.uniform1f(uniformLocations.u_correctionRatio, params.correctionRatio);
  gl.uniform1f(uniformLocations.u_pixelRatio, params.pixelRatio);
}
