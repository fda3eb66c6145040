// The model's output as it was. It is put into the page only when the reader opens it.

import { el } from "./dom.js";

export class Raw {
  #prose;
  #note = el("p", { class: "because" });
  #text = el("div", { class: "code untrusted", tabindex: "0", role: "region", "aria-label": "Raw output" });
  /** @type {string | null} */
  #raw = null;

  /** @param {import("./prose.js").Prose} prose */
  constructor(prose) {
    this.#prose = prose;
    this.element = el("details", { class: "raw" }, el("summary", {}, "Raw output"), this.#note, this.#text);
    this.element.addEventListener("toggle", () => this.#show());
  }

  /**
   * `covered`: the output is here, but what it says is below the threshold.
   * @param {{raw: string | null, covered: boolean}} output
   */
  set({ raw, covered }) {
    this.element.hidden = raw === null;
    this.#note.textContent = covered
      ? "Everything the model wrote, also what is withheld above."
      : "Everything the model wrote, also its private reasoning and tags.";
    if (covered && raw === this.#raw) return;
    if (covered || raw !== this.#raw) this.element.open = false;
    this.#raw = raw;
    this.#show();
  }

  #show() {
    if (this.element.open && this.#raw !== null) this.#prose.writeSource(this.#text, this.#raw);
    else this.#text.replaceChildren();
  }
}
