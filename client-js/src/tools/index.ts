export {
  readClipboardImage,
  readClipboardText,
  writeClipboardImage,
  writeClipboardText,
} from "./clipboard.ts";
export { estimateStorage, getBattery, getNetwork, vibrate } from "./device.ts";
export { type GetLocationOptions, getLocation, watchLocation } from "./geolocation.ts";
export { getLocale } from "./locale.ts";
export {
  forget,
  listMemories,
  type MemoryOptions,
  type RememberOptions,
  recall,
  remember,
  searchMemories,
} from "./memory.ts";
export { type ShowNotificationOptions, showNotification } from "./notification.ts";
export * from "./page-tools.ts";
export { share } from "./sharing.ts";
export { type SayOptions, say } from "./speech.ts";
export { holdWakeLock } from "./wake-lock.ts";
