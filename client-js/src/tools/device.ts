import * as declarations from "./declarations.gen.ts";
import { refused, unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

/** What browsers have and TypeScript's DOM does not. */
interface Device {
  getBattery?(): Promise<{
    readonly level: number;
    readonly charging: boolean;
    readonly chargingTime: number;
    readonly dischargingTime: number;
  }>;
  readonly connection?: {
    readonly effectiveType?: string;
    readonly downlink?: number;
    readonly rtt?: number;
    readonly saveData?: boolean;
  };
}

/**
 * `get_battery`: the battery's charge. Chromium alone has it.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const getBattery = () =>
  declarations.get_battery.implement(async (_, { signal }) => {
    const battery = (navigator as Device).getBattery?.();
    if (battery === undefined) throw unsupported("battery status");
    const { level, charging, chargingTime, dischargingTime } = await until(signal, battery);
    return {
      level,
      charging,
      charging_time: known(chargingTime),
      discharging_time: known(dischargingTime),
    };
  });

/**
 * `get_network`: whether there is a network, and how fast it is where the browser says so (Chromium).
 *
 * Permission: none. Click: none. Idempotent.
 */
export const getNetwork = () =>
  declarations.get_network.implement(() => {
    const { effectiveType, downlink, rtt, saveData } = (navigator as Device).connection ?? {};
    return {
      online: navigator.onLine,
      effective_type: effectiveType ?? null,
      downlink: known(downlink),
      rtt: known(rtt),
      save_data: saveData ?? null,
    };
  });

/**
 * `estimate_storage`: the bytes that the site uses, and may use.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const estimateStorage = () =>
  declarations.estimate_storage.implement(async (_, { signal }) => {
    const { storage } = navigator;
    if (!storage?.estimate) throw unsupported("storage estimate");
    const [{ usage = 0, quota = 0 }, persisted] = await until(
      signal,
      Promise.all([storage.estimate(), storage.persisted()]),
    );
    return { usage, quota, persisted };
  });

/**
 * `vibrate`: lets the device vibrate, and does not wait for its end. A device without a motor takes it, too.
 *
 * Permission: none. Click: the user must have clicked in the page at some time. Not idempotent.
 */
export const vibrate = () =>
  declarations.vibrate.implement(({ pattern }) => {
    if (!navigator.vibrate) throw unsupported("vibration");
    if (navigator.userActivation?.hasBeenActive === false) {
      throw refused("needs_gesture", "The device vibrates only when the user has clicked in the page.");
    }
    // Why it does not, it does not say.
    if (!navigator.vibrate(pattern)) throw unsupported("vibration");
    return { vibrated: true };
  });

/** A number that the browser knows: it says Infinity, or nothing, for one that it does not. */
function known(number: number | undefined): number | null {
  return number !== undefined && Number.isFinite(number) ? number : null;
}
