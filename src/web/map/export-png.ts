/** Composes the layers of the map, as they are on the screen, into one PNG. */
export async function composePng(layers: readonly HTMLCanvasElement[], background: string): Promise<Blob> {
  const width = Math.max(...layers.map((layer) => layer.width));
  const height = Math.max(...layers.map((layer) => layer.height));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  context.fillStyle = background;
  context.fillRect(0, 0, width, height);
  for (const layer of layers) if (layer.width > 0) context.drawImage(layer, 0, 0, width, height);
  return canvas.convertToBlob({ type: "image/png" });
}
