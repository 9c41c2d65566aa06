import * as declarations from "./declarations.gen.ts";
import { refused } from "./refusal.ts";
import { until } from "./waiting.ts";

type Shape = declarations.DrawArgs["shapes"][number];

/**
 * `draw`: the agent draws a picture out of shapes, and gets it as a PNG image.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const draw = () =>
  declarations.draw.implement(({ width, height, background, shapes }, { signal }) => {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
    if (background) {
      context.fillStyle = color(background);
      context.fillRect(0, 0, width, height);
    }
    for (const shape of shapes) paint(context, shape);
    return until(signal, canvas.convertToBlob());
  });

function paint(context: OffscreenCanvasRenderingContext2D, shape: Shape): void {
  const { type, fill, stroke, stroke_width } = shape;
  // What has no color at all would not be seen: it is black, a line along itself, anything else inside.
  const line = stroke ?? (!fill && type === "line" ? "black" : undefined);
  const inside = fill ?? (line ? undefined : "black");
  context.lineWidth = stroke_width;
  if (inside) context.fillStyle = color(inside);
  if (line) context.strokeStyle = color(line);
  if (type === "text") {
    const { text, x, y, size, align } = shape;
    context.font = `${size}px sans-serif`;
    context.textAlign = align;
    if (inside) context.fillText(text, x, y);
    if (line) context.strokeText(text, x, y);
  } else {
    const path = outline(shape);
    if (inside) context.fill(path);
    if (line) context.stroke(path);
  }
}

function outline(shape: Exclude<Shape, { type: "text" }>): Path2D {
  if (shape.type === "path") return new Path2D(shape.d);
  const path = new Path2D();
  if (shape.type === "rectangle") {
    path.rect(shape.x, shape.y, shape.width, shape.height);
  } else if (shape.type === "ellipse") {
    path.ellipse(shape.x, shape.y, shape.radius_x, shape.radius_y, 0, 0, 2 * Math.PI);
  } else {
    for (const [x, y] of shape.points) path.lineTo(x as number, y as number);
    if (shape.closed) path.closePath();
  }
  return path;
}

/** A canvas ignores a color that it does not know, and goes on with the one before. */
function color(text: string): string {
  if (!CSS.supports("color", text)) {
    throw refused(
      "invalid_args",
      `Expected a CSS color such as red or #c81e3c, got ${JSON.stringify(text)}.`,
    );
  }
  return text;
}
