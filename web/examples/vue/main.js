// A question and its answer, with Vue 3.
import { createApp } from "vue";
import App from "./App.vue";

createApp(App).mount("#root");
