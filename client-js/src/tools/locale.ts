import * as declarations from "./declarations.gen.ts";

/**
 * `get_locale`: the user's languages, time zone, clock and conventions.
 *
 * Permission: none. Click: none. Idempotent.
 */
export const getLocale = () =>
  declarations.get_locale.implement(() => {
    const { locale, timeZone, calendar, numberingSystem } = Intl.DateTimeFormat().resolvedOptions();
    return {
      languages: [...navigator.languages],
      locale,
      time_zone: timeZone,
      local_time: localTime(new Date()),
      calendar,
      numbering_system: numberingSystem,
    };
  });

/** ISO 8601 with the offset from UTC, in whole seconds. */
function localTime(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const shifted = new Date(now.getTime() + minutes * 60_000).toISOString().slice(0, 19);
  const two = (number: number) => String(number).padStart(2, "0");
  const ahead = Math.abs(minutes);
  return `${shifted}${minutes < 0 ? "-" : "+"}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
}
