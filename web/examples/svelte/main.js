// A question and its answer, with Svelte 5.
import { mount } from "svelte";
import App from "./App.svelte";

mount(App, { target: document.getElementById("root") });
