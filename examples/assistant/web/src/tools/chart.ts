import { tool } from "farside";
import { z } from "../zod.ts";

export const ChartRequest = z.object({
  values: z.array(z.number()).min(1).max(100),
  kind: z.enum(["bar", "line"]),
  title: z.string(),
});

export const Chart = z.object({
  image: z.instanceof(Uint8Array<ArrayBuffer>),
  mime_type: z.literal("image/png"),
  width: z.number(),
  height: z.number(),
});

export const drawChart = tool({
  name: "draw_chart",
  description: "Draw a bar or line chart of some numbers.",
  schema: ChartRequest,
  result: Chart,
}).implement(async (request) => {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("The browser gives no canvas to draw on.");
  draw(context, request);
  return { image: await pngOf(canvas), mime_type: "image/png" as const, width: WIDTH, height: HEIGHT };
});

async function pngOf(canvas: HTMLCanvasElement): Promise<Uint8Array<ArrayBuffer>> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("The browser could not make a picture of the chart.");
  return new Uint8Array(await blob.arrayBuffer());
}

// --- drawing --------------------------------------------------------------------------------------------------------

const WIDTH = 960;
const HEIGHT = 480;
const LEFT = 92;
const RIGHT = 32;
const BOTTOM = 60;

const PAPER = "#ffffff";
const GRID = "#e6e6ec";
const AXIS = "#8b8d98";
const INK = "#30313a";
const ACCENT = "#5b5bd6";

function draw(
  context: CanvasRenderingContext2D,
  { values, kind, title }: z.infer<typeof ChartRequest>,
): void {
  const top = title === "" ? 44 : 84;
  const height = HEIGHT - top - BOTTOM;
  const width = WIDTH - LEFT - RIGHT;
  const ticks = ticksFor(Math.min(0, ...values), Math.max(0, ...values));
  const [low, high] = [ticks[0] as number, ticks.at(-1) as number];
  const x = (place: number) => LEFT + (width * (place + 0.5)) / values.length;
  const y = (value: number) => top + height * (1 - (value - low) / (high - low));

  context.fillStyle = PAPER;
  context.fillRect(0, 0, WIDTH, HEIGHT);
  if (title !== "") write(context, title, LEFT, 46, { font: "600 30px", align: "left", maxWidth: width });
  for (const tick of ticks) {
    context.fillStyle = tick === 0 ? AXIS : GRID;
    context.fillRect(LEFT, Math.round(y(tick)), width, 2);
    write(context, label(tick), LEFT - 14, y(tick) + 8, { color: AXIS, align: "right" });
  }
  if (kind === "line") drawLine(context, values, x, y);
  else drawBars(context, values, x, y, Math.min(120, (width / values.length) * 0.64));
  if (values.length > 20) return;
  for (const [place, value] of values.entries()) {
    const above = kind === "line" || value >= 0;
    write(context, label(value), x(place), y(value) + (above ? -14 : 34), { font: "600 24px" });
    write(context, String(place + 1), x(place), HEIGHT - 20, { color: AXIS });
  }
}

function drawBars(
  context: CanvasRenderingContext2D,
  values: readonly number[],
  x: (place: number) => number,
  y: (value: number) => number,
  width: number,
): void {
  context.fillStyle = ACCENT;
  for (const [place, value] of values.entries()) {
    const [top, bottom] = [Math.min(y(value), y(0)), Math.max(y(value), y(0))];
    const radius = Math.min(8, width / 4, (bottom - top) / 2);
    context.beginPath();
    context.roundRect(
      x(place) - width / 2,
      top,
      width,
      bottom - top,
      value >= 0 ? [radius, radius, 0, 0] : [0, 0, radius, radius],
    );
    context.fill();
  }
}

function drawLine(
  context: CanvasRenderingContext2D,
  values: readonly number[],
  x: (place: number) => number,
  y: (value: number) => number,
): void {
  context.strokeStyle = ACCENT;
  context.fillStyle = ACCENT;
  context.lineWidth = 5;
  context.lineJoin = "round";
  context.beginPath();
  for (const [place, value] of values.entries()) context.lineTo(x(place), y(value));
  context.stroke();
  for (const [place, value] of values.entries()) {
    context.beginPath();
    context.arc(x(place), y(value), values.length > 40 ? 4 : 8, 0, 2 * Math.PI);
    context.fill();
  }
}

interface Style {
  readonly font?: string;
  readonly color?: string;
  readonly align?: CanvasTextAlign;
  readonly maxWidth?: number;
}

function write(context: CanvasRenderingContext2D, text: string, x: number, y: number, style: Style): void {
  context.font = `${style.font ?? "24px"} system-ui, sans-serif`;
  context.textAlign = style.align ?? "center";
  // A rim of paper keeps the text legible where it meets a line.
  context.strokeStyle = PAPER;
  context.lineWidth = 6;
  context.lineJoin = "round";
  context.strokeText(text, x, y, style.maxWidth);
  context.fillStyle = style.color ?? INK;
  context.fillText(text, x, y, style.maxWidth);
}

/** Round numbers from at most `low` to at least `high`. */
function ticksFor(low: number, high: number): number[] {
  const range = high - low;
  const rough = (range === 0 ? 1 : range) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

function label(value: number): string {
  const notation = Math.abs(value) >= 100_000 ? "compact" : "standard";
  return new Intl.NumberFormat("en", { notation, maximumSignificantDigits: 4 }).format(value);
}
