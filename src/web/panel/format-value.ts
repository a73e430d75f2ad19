/** Any value of a claim as a short text: text as it is, lists with commas, a connect point as `device/port`. */
export function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(formatValue).join(", ");
  if (value === null || typeof value !== "object") return String(value);
  const fields = Object.entries(value);
  const end = Object.fromEntries(fields);
  const device = end.device ?? end.elementId;
  if (fields.length === 2 && device !== undefined && end.port !== undefined) return `${device}/${end.port}`;
  return fields.map(([name, field]) => `${name}: ${formatValue(field)}`).join(", ");
}
