// A reliability picture from numbers: stated confidence across, share that was right up; on the diagonal they agree.

const NAMESPACE = "http://www.w3.org/2000/svg";
const SIZE = 200;
const EDGE = { left: 48, bottom: 30, top: 8, right: 18 };

/**
 * What the picture says is said in its label too.
 * @param {Measured["reliability"]} bins
 */
export function reliabilityPicture(bins) {
  const root = svg("svg", {
    viewBox: `${-EDGE.left} ${-EDGE.top} ${SIZE + EDGE.left + EDGE.right} ${SIZE + EDGE.bottom + EDGE.top}`,
    class: "reliability", role: "img", "aria-label": said(bins),
  });
  const most = Math.max(1, ...bins.map((bin) => bin.answers));
  root.append(
    svg("rect", { class: "frame", width: SIZE, height: SIZE }),
    svg("line", { class: "diagonal", x1: 0, y1: SIZE, x2: SIZE, y2: 0 }),
    ...bins.map((bin) => dot(bin, most)),
    ...[0, 0.5, 1].flatMap((at) => [label(at, SIZE * at, SIZE + 13, "middle"), label(at, -5, SIZE * (1 - at) + 4, "end")]),
    words("says it is sure", SIZE / 2, SIZE + 27, "middle"),
  );
  const side = words("was right", 0, 0, "middle");
  side.setAttribute("transform", `translate(-38 ${SIZE / 2}) rotate(-90)`);
  root.append(side);
  return root;
}

function dot({ answers, confidence, right }, most) {
  const r = 3 + 8 * Math.sqrt(answers / most);
  return svg("circle", { class: "bin", cx: SIZE * confidence, cy: SIZE * (1 - right), r });
}

const label = (at, x, y, anchor) => words(`${100 * at}%`, x, y, anchor);

function words(text, x, y, anchor) {
  const made = svg("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

function svg(tag, attributes) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const said = (bins) => ["Reliability:", ...bins.map(({ answers, confidence, right }) => (
  `of ${answers} answers it called ${Math.round(100 * confidence)}% sure, ${Math.round(100 * right)}% were right`
))].join(" ");
