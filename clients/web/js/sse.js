// Server-sent events: pieces of bytes in, events out.

/**
 * Feed it what arrives. An event is given out at the empty line that ends it, so half an event never is. Lines end
 * with CR LF, LF or CR, also where a piece ends between CR and LF. Work is linear in what is fed.
 */
export class Decoder {
  #utf8 = new TextDecoder();
  /** @type {string[]} */
  #partial = [];
  #afterCarriageReturn = false;
  #event = "";
  /** @type {string[]} */
  #data = [];

  /**
   * The events that `bytes` completes, data still text.
   * @param {Uint8Array} bytes
   */
  feed(bytes) {
    return this.#lines(this.#utf8.decode(bytes, { stream: true }))
      .map((line) => this.#line(line))
      .filter((event) => event !== null);
  }

  /** @param {string} text */
  #lines(text) {
    if (!text) return [];
    const fresh = this.#afterCarriageReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterCarriageReturn = text.endsWith("\r");
    const lines = fresh.split(/\r\n|\r|\n/);
    const rest = lines.pop();
    if (lines.length > 0) {
      lines[0] = this.#partial.join("") + lines[0];
      this.#partial = [];
    }
    if (rest) this.#partial.push(rest);
    return lines;
  }

  /** @param {string} line */
  #line(line) {
    if (!line) return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    return null;
  }

  #dispatch() {
    const event = { event: this.#event || "message", data: this.#data.join("\n") };
    const whole = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return whole ? event : null;
  }
}
