import { defineConfig } from "vite";

// Fixed file names: the server embeds exactly these files.
export default defineConfig({
  base: "./",
  publicDir: false,
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: true,
    chunkSizeWarningLimit: 900,
    rollupOptions: {
      output: {
        inlineDynamicImports: true,
        entryFileNames: "console.js",
        assetFileNames: (asset) => (asset.names.some((name) => name.endsWith(".css")) ? "console.css" : "[name][extname]"),
      },
    },
  },
});
