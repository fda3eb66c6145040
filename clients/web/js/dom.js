// Elements without markup: every string becomes a text node, whatever it says.

/**
 * A new element. `props` are attributes, except that functions under `on…` become listeners, true is an empty
 * attribute, and false, null and undefined are left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} props
 * @param {...(string | Node | null | undefined)} children
 */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  for (const child of children) if (child != null) made.append(child);
  return made;
}

/**
 * The element of the page with this `id`, which has to be of this `kind`.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind]
 * @returns {T}
 */
export function find(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof (kind ?? HTMLElement))) throw new TypeError(`The page has no ${kind?.name ?? "element"} ${id}.`);
  return /** @type {T} */ (found);
}

/**
 * Set the text of an element only when it differs, so that nothing is announced or laid out again for nothing.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Run `work` once before the next frame, however often it is asked for until then.
 * @param {() => void} work
 */
export function oncePerFrame(work) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      work();
    });
  };
}
