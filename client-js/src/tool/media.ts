/** What a body hands over that is binary, and how it is carried: `{ mime_type, name?, data: bytes }`. */

type Canvas = { toBlob(done: (blob: Blob | null) => void): void };

/** The carried form of each blob, file, canvas and image anywhere in a value. */
export async function mediaIn(value: unknown): Promise<ReadonlyMap<unknown, unknown>> {
  const blobs = new Map<unknown, Promise<Blob> | Blob>();
  const seen = new Set<unknown>();
  const visit = (item: unknown): void => {
    if (typeof item !== "object" || item === null || ArrayBuffer.isView(item) || seen.has(item)) return;
    seen.add(item);
    const blob = blobOf(item);
    if (blob === undefined) Object.values(item).forEach(visit);
    else blobs.set(item, blob);
  };
  visit(value);
  return new Map(
    await Promise.all([...blobs].map(async ([item, blob]) => [item, await bytesOf(await blob)] as const)),
  );
}

async function bytesOf(blob: Blob): Promise<unknown> {
  const data = new Uint8Array(await blob.arrayBuffer());
  return { mime_type: blob.type, name: (blob as File).name, data };
}

function blobOf(item: object): Promise<Blob> | Blob | undefined {
  if (item instanceof Blob) return item;
  if ("convertToBlob" in item) return (item as OffscreenCanvas).convertToBlob();
  if ("toBlob" in item) {
    return new Promise((done, fail) => {
      (item as Canvas).toBlob((blob) => (blob ? done(blob) : fail(new Error("the canvas is empty"))));
    });
  }
  const name = Object.prototype.toString.call(item);
  if (name !== "[object ImageData]" && name !== "[object ImageBitmap]") return undefined;
  const { width, height } = item as ImageBitmap;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  if ("data" in item) context.putImageData(item as ImageData, 0, 0);
  else context.drawImage(item as ImageBitmap, 0, 0);
  return canvas.convertToBlob();
}
