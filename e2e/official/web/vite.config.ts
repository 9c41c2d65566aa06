import { svelte } from "@sveltejs/vite-plugin-svelte";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  plugins: [react(), svelte({ configFile: false })],
  // Only the frameworks' development builds mount twice in StrictMode, and complain.
  define: { "process.env.NODE_ENV": '"development"' },
  build: {
    target: "es2022",
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { input: ["react.html", "svelte.html"] },
  },
});
