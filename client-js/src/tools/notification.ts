import { hasGesture } from "../tool/gesture.ts";
import { tool } from "../tool/tool.ts";
import * as declarations from "./declarations.gen.ts";
import { refused, unsupported } from "./refusal.ts";
import { until } from "./waiting.ts";

/** Options of {@link showNotification}. */
export interface ShowNotificationOptions {
  /** The address of the picture in it. */
  readonly icon?: string;
}

/**
 * `show_notification`: a notification of the system; by the page's service worker where it has an active one, as phones demand.
 *
 * Permission: `notifications`, the browser asks. Click: none once it is granted; Firefox and Safari ask only after one.
 * Idempotent: shown again, it takes its own place.
 */
export const showNotification = ({ icon }: ShowNotificationOptions = {}) =>
  tool({ ...declarations.show_notification, permissions: ["notifications"] }).implement(
    async ({ title, body, tag }, { signal, toolCallId }) => {
      if (!globalThis.Notification) throw unsupported("notifications");
      await until(signal, allowed());
      const options = { body, tag: tag ?? toolCallId, ...(icon && { icon }) };
      const registration = await until(signal, Promise.resolve(navigator.serviceWorker?.getRegistration()));
      if (registration?.active) await registration.showNotification(title, options);
      else await until(signal, shown(title, options));
      return { shown: true };
    },
  );

async function allowed(): Promise<void> {
  const hadClick = hasGesture();
  const asked = Notification.permission === "default";
  const permission = asked ? await Notification.requestPermission() : Notification.permission;
  if (permission === "denied") throw refused("permission_denied", "The user does not allow notifications.");
  if (permission === "granted") return;
  throw hadClick
    ? refused("dismissed", "The user has closed the question whether to allow notifications.")
    : refused("needs_gesture", "The browser asks whether to allow notifications only after a click.");
}

function shown(title: string, options: NotificationOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    let notification: Notification;
    try {
      notification = new Notification(title, options);
    } catch {
      throw unsupported("notifications without a service worker");
    }
    notification.onshow = () => resolve();
    notification.onerror = () => reject(refused("failed", "The system has not shown the notification."));
  });
}
