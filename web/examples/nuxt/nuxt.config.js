// What Nuxt is told beyond its defaults.
export default defineNuxtConfig({
  compatibilityDate: "2026-01-01",
  css: ["tidemark/cursor.css", "~/page.css"],
  app: { head: { title: "Tidemark and Nuxt", htmlAttrs: { lang: "en" }, link: [{ rel: "icon", href: "data:," }] } },
  runtimeConfig: { proxy: "http://127.0.0.1:8787" },
  // Else the development server moves the script alone, without its WebAssembly module.
  vite: { optimizeDeps: { exclude: ["tidemark"] } },
});
