// Tokens of Markdown as elements, from an allow-list. Nothing is a link, nothing is fetched, and no word is lost.

import { el } from "./dom.js";
import { DEEPEST } from "./markdown.js";
import { showFormula } from "./maths.js";
import { appendUntrusted, hasInvisible } from "./untrusted.js";

const BLOCKS = {
  paragraph: () => el("p"),
  heading: () => el("p", { class: "heading" }),
  bullet_list: () => el("ul", { role: "list" }),
  ordered_list: () => el("ol", { role: "list" }),
  list_item: (token) => el("li", {}, el("span", { class: "marker" }, `${token.info}${token.markup} `)),
  table: () => el("table"),
  thead: () => el("thead"),
  tbody: () => el("tbody"),
  tr: () => el("tr"),
  th: () => el("th"),
  td: () => el("td"),
  strong: () => el("strong"),
  em: () => el("em"),
  link: (token) => el("span", { class: "address", "data-address": token.attrs.map(([, value]) => value).join(" ") }),
};

const LEAVES = {
  text: (token, parent) => appendUntrusted(parent, token.content),
  softbreak: (token, parent) => parent.append(el("br")),
  hardbreak: (token, parent) => parent.append(el("br")),
  hr: (token, parent) => parent.append(el("hr")),
  code_inline: (token, parent) => parent.append(filled("code", token.content)),
  fence: (token, parent) => parent.append(snippet(token)),
  maths: (token, parent) => parent.append(formula(token)),
  image: (token, parent) => {
    fill(parent, token.children);
    appendUntrusted(parent, ` (${token.attrs.map(([, value]) => value).filter(Boolean).join(" ")})`);
  },
  inline: (token, parent) => fill(parent, token.children),
};

/** `text` as a fragment; null when it has to be shown as it was written. */
export function markdownNodes(text, parser) {
  if (text.includes("\0")) return null;
  const tokens = parser.parse(text.replace(/\r\n?/g, "\n"), {});
  const fragment = document.createDocumentFragment();
  const whole = tokens.every((token) => token.level < DEEPEST - 1) && fill(fragment, tokens) && saysTheSame(fragment, text);
  return whole ? fragment : null;
}

/** Put `tokens` into `parent`; false when one of them is not on the list. */
function fill(parent, tokens) {
  const open = [parent];
  for (const token of tokens) {
    const [name, end] = token.type.split(/_(open|close)$/);
    if (end === "close") close(open);
    else if (end === "open" && BLOCKS[name]) open.push(token.hidden ? open.at(-1) : enter(open.at(-1), BLOCKS[name](token)));
    else if (end === undefined && LEAVES[name]) LEAVES[name](token, open.at(-1));
    else return false;
  }
  return open.length === 1;
}

function enter(parent, made) {
  parent.append(made);
  return made;
}

function close(open) {
  const left = open.pop();
  if (left.dataset?.address !== undefined) appendUntrusted(left, ` (${left.dataset.address})`);
}

function filled(tag, text) {
  const made = el(tag);
  appendUntrusted(made, text);
  return made;
}

function snippet({ info, content }) {
  const label = info.trim() ? filled("span", info.trim()) : null;
  if (label) label.className = "language";
  return el("pre", { class: "snippet", tabindex: "0" }, label, filled("code", content.replace(/\n$/, "")));
}

/** Its source stays beside it for `saysTheSame`, and where it cannot be shown. */
function formula({ content, meta }) {
  const place = el("span", { class: meta.display ? "formula standing" : "formula", "data-source": content });
  appendUntrusted(place, content);
  if (!hasInvisible(content)) showFormula(place, meta);
  return place;
}

const SILENT = /[^\p{L}\p{N}=<>+/×÷]/gu;

/** Whether every letter, digit and sign of `text` is there, in its order: Markdown may dress a solution, not change it. */
function saysTheSame(fragment, text) {
  const copy = fragment.cloneNode(true);
  for (const place of copy.querySelectorAll("[data-source]")) place.textContent = place.dataset.source;
  for (const mark of copy.querySelectorAll(".invisible")) mark.remove();
  return copy.textContent.replace(SILENT, "") === text.replace(SILENT, "");
}
