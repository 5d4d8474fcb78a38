// What the pages of browser.test.mjs hold: the SDKs, fetchEventSource, and a chat by useChat(). Bundled by browser_site.mjs.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement as h, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { createRecoveringFetch } from "../../web/dist/index.js";
import { askDropIn } from "./drop_in_ask.mjs";
import { listen } from "./event_source.mjs";
import { ways } from "./sdks.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

/** Of so few connections a browser makes no queue. */
const atOnce = 5;

async function all(cases, run) {
  const results = [];
  const left = cases.map((one, index) => [one, index]);
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[1]] = await run(next[0]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

globalThis.createRecoveringFetch = createRecoveringFetch;
globalThis.askSdk = (nth, cases) => all(cases, ({ site, ...asking }) => askDropIn(site, ways[nth], asking));
globalThis.listenAll = (cases) => all(cases, ({ site, ...asking }) => listen(site, asking));

/** The page is hidden as the first text comes, and shown as there is more. */
globalThis.listenHidden = (site) => {
  const show = (state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    Object.defineProperty(document, "hidden", { value: state === "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  const states = ["hidden", "visible"];
  const onText = () => states.length > 0 && show(states.shift());
  return listen(site, { simulate: "none", onText, salt: "hidden" });
};

function Chat({ transport, question }) {
  const { messages, sendMessage, status, error } = useChat({ transport });
  return h(
    "section",
    { "data-status": status },
    messages.map(({ id, role, parts }) =>
      h("p", { key: id, className: role }, parts.map(({ type, text }) => (type === "text" ? text : "")).join("")),
    ),
    error && h("em", null, error.message),
    h("button", { onClick: () => sendMessage({ text: question }) }, "Send"),
  );
}

let chats = 0;

/** Asks by a chat of its own, in a page as users have it; what is on the page when the chat says that it's over. */
async function chat({ headers, options, salt = "" }) {
  let legs = 0;
  const counted = (...call) => (++legs, fetch(...call));
  const fast = { firstRetryDelayMs: 5, baseDelayMs: 5, jitterMs: 5 };
  const transport = new DefaultChatTransport({
    headers,
    fetch: createRecoveringFetch({ ...fast, ...options, fetch: counted }),
  });
  const place = document.body.appendChild(document.createElement("main"));
  const root = createRoot(place);
  root.render(h(StrictMode, null, h(Chat, { transport, question: `${salt} chat ${++chats}` })));
  const said = (selector) => Array.from(place.querySelectorAll(selector), (element) => element.textContent);
  const texts = [];
  try {
    await new Promise((resolve) => {
      let begun = false;
      new MutationObserver(() => {
        const status = place.querySelector("section")?.dataset.status;
        if (status === undefined) return;
        texts.push(said(".assistant").join("|"));
        if (!begun) {
          begun = true;
          place.querySelector("button").click();
        } else if (said(".user").length > 0 && (status === "ready" || status === "error")) {
          resolve();
        }
      }).observe(place, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    return {
      answers: said(".assistant"),
      error: said("em")[0],
      status: place.querySelector("section").dataset.status,
      legs,
      // What is on the page only grows.
      grows: texts.every((text, i) => i === 0 || text.startsWith(texts[i - 1])),
    };
  } finally {
    root.unmount();
    place.remove();
  }
}

globalThis.chatAll = (cases) => all(cases, chat);
document.documentElement.dataset.ready = "";
