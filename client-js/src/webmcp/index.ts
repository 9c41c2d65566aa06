export { adopt } from "./adopt.ts";
export { type ExposeOptions, type Exposure, exposeToModelContext } from "./expose.ts";
