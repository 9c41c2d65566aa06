import type { ImplementOptions } from "../tool/admission.ts";

/** Of a tool whose browser API works only right after a click. */
export const NEEDS_CLICK: ImplementOptions = { activation: "required" };

/** The same, where the API also uses the click up: one such call for each click. */
export const CONSUMES_CLICK: ImplementOptions = { activation: "consumed" };
