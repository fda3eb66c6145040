// Questions out of a file: one a line, a CSV with a column "question", or JSON lines with that field.

export const MOST = 1000;

/**
 * The questions in a file of this `name` and `text`. Throws an Error that says what is wrong with it.
 * @param {string} name
 * @param {string} text
 * @returns {string[]}
 */
export function questionsIn(name, text) {
  const plain = text.replace(/^\ufeff/, "");
  const found = /\.jsonl?$/i.test(name) ? jsonLines(plain) : /\.csv$/i.test(name) ? column(csvRows(plain)) : plain.split(/\r?\n/);
  const questions = found.map((question) => question.trim()).filter(Boolean);
  if (questions.length === 0) throw new Error("There is no question in it.");
  if (questions.length > MOST) throw new Error(`It has ${questions.length} questions; ${MOST} are the most for one file.`);
  return questions;
}

/** @param {string} text */
function jsonLines(text) {
  return text.split(/\r?\n/).flatMap((line, i) => {
    if (!line.trim()) return [];
    try {
      const { question } = JSON.parse(line);
      if (typeof question === "string") return [question];
    } catch {
      // Said below.
    }
    throw new Error(`Line ${i + 1} is no JSON object with a text "question".`);
  });
}

/** @param {string[][]} rows */
function column([head = [], ...rows]) {
  const at = head.findIndex((name) => name.trim().toLowerCase() === "question");
  if (at < 0) throw new Error("Its first line names no column \"question\".");
  return rows.map((row) => row[at] ?? "");
}

/**
 * RFC 4180: fields in quotes may hold commas, line ends and doubled quotes.
 * @param {string} text
 */
function csvRows(text) {
  let row = [""];
  const rows = [row];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quoted && char === '"' && text[i + 1] === '"') row[row.length - 1] += text[++i];
    else if (char === '"' && (quoted || row.at(-1) === "")) quoted = !quoted;
    else if (!quoted && char === ",") row.push("");
    else if (!quoted && char === "\n") rows.push((row = [""]));
    else if (quoted || char !== "\r") row[row.length - 1] += char;
  }
  return rows;
}

/**
 * One field of a CSV; what a spreadsheet would take for a formula is made text.
 * @param {unknown} value
 */
export function csvField(value) {
  const text = String(value ?? "");
  const harmless = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
