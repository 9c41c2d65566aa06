import { tool } from "farside";
import { z } from "../zod.ts";

export const Position = z.object({ latitude: z.number(), longitude: z.number(), accuracy: z.number() });

export const getLocation = tool({
  name: "get_location",
  description: "Find out where the user is.",
  result: Position,
}).implement(async (_args, { signal, progress }) => {
  const { state } = await navigator.permissions.query({ name: "geolocation" });
  if (state === "prompt") progress("Your browser asks whether this page may know where you are.");
  const { coords } = await locate(signal);
  return { latitude: coords.latitude, longitude: coords.longitude, accuracy: coords.accuracy };
});

function locate(signal: AbortSignal): Promise<GeolocationPosition> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    navigator.geolocation.getCurrentPosition(resolve, reject, { timeout: 25_000, maximumAge: 60_000 });
  });
}
