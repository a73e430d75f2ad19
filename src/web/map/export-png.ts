/** What is on the screen, as a PNG: the layers of the map on top of each other. */
export async function composePicture(layers: readonly HTMLCanvasElement[], ground: string): Promise<Blob> {
  const width = Math.max(...layers.map((layer) => layer.width));
  const height = Math.max(...layers.map((layer) => layer.height));
  const sheet = new OffscreenCanvas(width, height);
  const context = sheet.getContext("2d");
  if (!context) throw new Error("this browser has no 2D canvas");
  context.fillStyle = ground;
  context.fillRect(0, 0, width, height);
  for (const layer of layers) if (layer.width > 0) context.drawImage(layer, 0, 0, width, height);
  return sheet.convertToBlob({ type: "image/png" });
}
