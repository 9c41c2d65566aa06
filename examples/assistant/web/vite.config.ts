import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: { outDir: "dist", target: "es2022" },
  // `npm run dev` serves the page; `make demo` in another terminal serves the agent.
  server: { proxy: { "/farside": { target: "http://localhost:8700", ws: true } } },
});
