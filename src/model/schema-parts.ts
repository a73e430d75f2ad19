/** Schemas of common fields. The description of a field is a whole sentence or noun phrase, which the OpenAPI document shows. */
import Type from "typebox";

export const text = (description: string) => Type.String({ description });
export const texts = (description: string) => Type.Array(Type.String(), { description });
export const flag = (description: string) => Type.Boolean({ description });
export const integer = (description: string) => Type.Integer({ description });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const dateTime = (description: string) => Type.String({ format: "date-time", description });
/** Epoch milliseconds and revisions need 64 bits: a generated client must not read them as a 32-bit number. */
export const int64 = (description: string) => Type.Integer({ format: "int64", description });
