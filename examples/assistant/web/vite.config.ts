import { defineConfig } from "vite";

const server = "http://localhost:8700";

export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    target: "es2022",
    // The page's policy allows no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev` serves the page; `make demo` in another terminal serves the agent.
  server: { proxy: { "/farside": { target: server, ws: true }, "/about": server } },
});
