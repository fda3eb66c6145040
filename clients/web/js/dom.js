// Elements without markup: every string becomes a text node, whatever it says.

/**
 * A new element. `props` are attributes, except that functions under `on…` become listeners, true is an empty
 * attribute, and false, null and undefined are left out.
 */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export const find = (id) => document.getElementById(id);

/** Set the text of an element only when it differs, so that nothing is announced or laid out again for nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Run `work` once before the next frame, however often it is asked for until then. */
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
