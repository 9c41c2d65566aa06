import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  // Only React's development build mounts twice in StrictMode, and complains.
  define: { "process.env.NODE_ENV": '"development"' },
  build: { target: "es2022", chunkSizeWarningLimit: 2000 },
});
