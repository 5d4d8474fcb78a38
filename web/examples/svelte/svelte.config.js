// Nothing beyond Svelte's defaults; without this file its Vite plugin says that it found none.
export default {};
