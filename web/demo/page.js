// The chat: asks over the chosen route, with the chosen fault, and shows the answer as it comes.
import { recoverStream } from "./tidemark/index.js";
import "./tidemark/cursor.js";
import { Strip } from "./strip.js";
import { faults, routes } from "./weather.js";

const $ = (id) => document.getElementById(id);
const config = await (await fetch("config.json")).json();
const strip = new Strip();
const conversation = $("conversation");

// Shorter than the package's default, so that nobody has to wait 20 seconds for the line to be found dead.
const heartbeatTimeoutMs = 4000;

// There while an answer is under way.
let running;

function fill() {
  const groups = new Map();
  for (const { group, value, label } of faults) {
    if (!groups.has(group)) groups.set(group, Object.assign(document.createElement("optgroup"), { label: group }));
    groups.get(group).append(new Option(label, value));
  }
  $("fault").append(...groups.values());
  $("route").append(...Object.entries(routes).map(([value, { label }]) => new Option(label, value)));
  $("fault").addEventListener("change", () => {
    $("route").value = faults.find(({ value }) => value === $("fault").value).route;
  });
}

/** The line that the button cuts: a fetch whose present leg can be made to fail, as a network would. */
class Line {
  #leg;
  fetch = (input, init) => {
    this.#leg = new AbortController();
    return fetch(input, { ...init, signal: AbortSignal.any([init.signal, this.#leg.signal]) });
  };
  cut() {
    this.#leg?.abort();
  }
}

/** Stays at the conversation's end, for a reader who is there. */
function keepingUp(change) {
  const { scrollTop, scrollHeight, clientHeight } = conversation;
  change();
  if (scrollHeight - scrollTop - clientHeight < 48) conversation.scrollTop = conversation.scrollHeight;
}

function say(who, text) {
  const message = document.createElement("article");
  message.className = who;
  message.ariaLabel = who === "question" ? "You" : "Answer";
  const said = document.createElement("p");
  said.dir = "auto";
  const node = document.createTextNode(text);
  said.append(node);
  message.append(said);
  conversation.append(message);
  conversation.scrollTop = conversation.scrollHeight;
  return { message, said, node };
}

// What a reload goes on with: the question under way, where and with which fault it was asked.
const asked = "asked";

async function ask(question) {
  const [route, fault] = [$("route").value, $("fault").value];
  const { base, path, body, headers } = routes[route];
  // Of the others nobody has kept anything to go on with.
  if (base === "proxy") sessionStorage.setItem(asked, JSON.stringify({ question, route, fault }));
  say("question", question);
  const { message, said, node } = say("answer", "");
  const cursor = document.createElement("tide-cursor");
  said.append(cursor);

  strip.clear();
  const line = new Line();
  const answer = recoverStream(config[base] + path, {
    body: body(question),
    headers: { ...headers, "X-Simulate": fault },
    persist: "session",
    fetch: line.fetch,
    heartbeatTimeoutMs,
    onState: (state) => {
      cursor.setAttribute("state", state);
      strip.state(state);
    },
    onRetry: (retry) => strip.retry(retry),
    onSeam: (seam) => strip.seam(seam),
  });
  running = { answer, line };
  show();
  $("told").textContent = "Answering";

  try {
    for await (const event of answer) {
      if (event.text === "") continue;
      keepingUp(() => node.appendData(event.text));
    }
    $("told").textContent = answer.end === "complete" ? "The answer is complete." : `The answer was ${answer.end}.`;
    if (answer.end !== "complete") note(message, "aside", `${answer.end}: ${answer.endReason}`);
  } catch (error) {
    const again = error.retryAfter ? ` (again in ${Math.ceil(error.retryAfter / 1000)} s)` : "";
    $("told").textContent = `No answer: ${error.message}${again}`;
    note(message, "error", error.message + again);
  }
  sessionStorage.removeItem(asked);
  message.dataset.end = answer.end ?? "left";
  running = undefined;
  show();
}

function note(message, kind, text) {
  const line = document.createElement("p");
  line.className = kind;
  line.textContent = text;
  keepingUp(() => message.append(line));
}

function show() {
  const busy = running !== undefined;
  const { activeElement } = document;
  $("send").hidden = busy;
  $("cut").disabled = !busy;
  $("stop").hidden = !busy;
  // Where the button that had the focus is gone, the one that took its place has it.
  if (activeElement?.hidden || activeElement?.disabled) $(busy ? "stop" : "send").focus();
}

fill();
$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = $("question").value.trim();
  if (running || question === "") return;
  void ask(question);
});
$("stop").addEventListener("click", () => void running?.answer.stop().catch(() => {}));
$("cut").addEventListener("click", () => running?.line.cut());
const { question, route, fault } = JSON.parse(sessionStorage.getItem(asked) ?? "{}");
if (question) {
  $("route").value = route;
  $("fault").value = fault;
  void ask(question);
}
document.documentElement.dataset.ready = "";
