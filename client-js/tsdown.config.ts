import { defineConfig } from "tsdown";

export default defineConfig({
  entry: [
    "src/index.ts",
    "src/prompt/index.ts",
    "src/react/index.ts",
    "src/testing/index.ts",
    "src/tools/index.ts",
    "src/webmcp/index.ts",
  ],
  format: "esm",
  platform: "neutral",
  target: "es2022",
  dts: true,
  sourcemap: true,
});
