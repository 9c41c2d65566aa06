import { tool } from "../tool/tool.ts";
import * as declarations from "./declarations.gen.ts";
import { refused, unsupported } from "./refusal.ts";
import { until, within } from "./waiting.ts";

const permissions = ["geolocation"];

/** Options of {@link getLocation}. */
export interface GetLocationOptions {
  /** How long to wait for a position, the user's answer to the browser's question included. By default 45,000. */
  readonly timeoutMs?: number;
}

/**
 * `get_location`: the user's position.
 *
 * Permission: `geolocation`, the browser asks. Click: none. Idempotent. A position that does not come is `timed_out`, also
 * while the page is hidden, where the browser's own timeout never ends.
 */
export const getLocation = ({ timeoutMs = 45_000 }: GetLocationOptions = {}) =>
  tool({ ...declarations.get_location, permissions }).implement(
    async ({ high_accuracy, max_age }, { signal }) => {
      const geolocation = geolocationHere();
      const options = { enableHighAccuracy: high_accuracy, maximumAge: max_age * 1000 };
      const position = new Promise<GeolocationPosition>((resolve, reject) =>
        geolocation.getCurrentPosition(resolve, reject, options),
      );
      return positionOf(await until(signal, within(timeoutMs, position, "No position has come")));
    },
  );

/**
 * `watch_location`: the user's positions for a while; each is shown as the call's progress, too.
 *
 * Permission: `geolocation`, the browser asks. Click: none. Idempotent. It stops watching when the call is withdrawn. What is
 * wrong for a time alone ends it only if no position has come at all.
 */
export const watchLocation = () =>
  tool({ ...declarations.watch_location, permissions }).implement(
    async ({ high_accuracy, duration, max_positions }, { signal, progress }) => {
      const geolocation = geolocationHere();
      const positions: ReturnType<typeof positionOf>[] = [];
      const stop = new AbortController();
      let problem: unknown = refused("timed_out", `No position has come within ${duration} s.`);
      let timer: ReturnType<typeof setTimeout> | undefined;
      let watch: number | undefined;
      const watching = new Promise<void>((resolve, reject) => {
        timer = setTimeout(resolve, duration * 1000);
        watch = geolocation.watchPosition(
          (measured) => {
            if (stop.signal.aborted) return;
            const position = positionOf(measured);
            progress(position);
            if (positions.push(position) >= max_positions) resolve();
          },
          (error) => {
            problem = error;
            if (error.code === error.PERMISSION_DENIED) reject(error);
          },
          { enableHighAccuracy: high_accuracy },
        );
      });
      try {
        await until(signal, watching);
      } finally {
        stop.abort();
        clearTimeout(timer);
        geolocation.clearWatch(watch as number);
      }
      if (positions.length === 0) throw problem;
      return { positions };
    },
  );

function geolocationHere(): Geolocation {
  const { geolocation } = navigator;
  if (!geolocation) throw unsupported("geolocation");
  return geolocation;
}

/** A position as the tools return it. */
function positionOf({ coords, timestamp }: GeolocationPosition) {
  const { latitude, longitude, accuracy, altitude, altitudeAccuracy, heading, speed } = coords;
  return {
    latitude,
    longitude,
    accuracy,
    altitude,
    altitude_accuracy: altitudeAccuracy,
    // NaN is the heading of somebody who stands still.
    heading: Number.isNaN(heading) ? null : heading,
    speed,
    measured_at: new Date(timestamp).toISOString(),
  };
}
