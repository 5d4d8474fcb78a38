// The strip: the recoverer's five states, their course in time, and what happened in between.

const $ = (id) => document.getElementById(id);

const causes = {
  network_error: "the connection broke",
  http_status: "refused for now",
  heartbeat_timeout: "not a byte for too long",
  stream_interrupted: "ended too early",
  sequence_hole: "events were missing",
  not_event_stream: "not a stream",
};

export class Strip {
  #states = [...$("states").children];
  #timeline = $("timeline");
  #happenings = $("happenings");
  // The timeline's last segment, which grows until the state changes.
  #segment;
  #since = 0;
  #frame = 0;

  clear() {
    cancelAnimationFrame(this.#frame);
    this.#segment = undefined;
    this.#timeline.replaceChildren();
    this.#happenings.replaceChildren();
  }

  state(state) {
    for (const item of this.#states) {
      const current = item.dataset.state === state;
      item.toggleAttribute("data-current", current);
      item.ariaCurrent = current ? "step" : null;
    }
    this.#grow();
    cancelAnimationFrame(this.#frame);
    this.#segment = undefined;
    if (state === "finalized") return;
    this.#segment = document.createElement("span");
    this.#segment.dataset.state = state;
    this.#since = performance.now();
    this.#timeline.append(this.#segment);
    const tick = () => {
      this.#grow();
      this.#frame = requestAnimationFrame(tick);
    };
    tick();
  }

  retry({ attempt, delayMs, cause }) {
    this.#say("retry", `${causes[cause]}; attempt ${attempt} in ${Math.round(delayMs)} ms`);
  }

  seam({ afterSeq, duplicates }) {
    const repeated = duplicates === 0 ? "nothing repeated" : `${duplicates} repeated, dropped`;
    this.#say("seam", `joined after event ${afterSeq}, ${repeated}`);
  }

  #grow() {
    if (this.#segment) this.#segment.style.flexGrow = String(Math.max(1, performance.now() - this.#since));
  }

  #say(kind, text) {
    const item = document.createElement("li");
    item.className = kind;
    item.textContent = text;
    this.#happenings.append(item);
    this.#happenings.scrollTop = this.#happenings.scrollHeight;
  }
}
