import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

// Fixed file names: the server embeds exactly these files.
export default defineConfig({
  base: "./",
  publicDir: false,
  plugins: [licences()],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
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

/** Puts the licences of the packages that are in the bundle at its head, each text once. */
function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        const packages = new Map<string, string>();
        for (const id of Object.keys(chunk.modules)) {
          const [, folder, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(id.replaceAll("\\", "/")) ?? [];
          if (folder && name) packages.set(name, readFileSync(`${folder}/LICENSE`, "utf8").trim());
        }
        const texts = new Map<string, string[]>();
        for (const [name, text] of [...packages].sort(([a], [b]) => (a < b ? -1 : 1))) texts.set(text, [...(texts.get(text) ?? []), name]);
        const parts = [...texts].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
        chunk.code = `/*!\n${parts.join("\n\n---\n\n").replaceAll("*/", "* /")}\n*/\n${chunk.code}`;
      }
    },
  };
}
