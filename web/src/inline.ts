// `tidemark/inline`: all that `tidemark` gives, with the WebAssembly module inside the script.
export * from "./index.js";
