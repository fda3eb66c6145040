for (const section of document.querySelectorAll("section")) {
  const filter = section.querySelector(".filter");
  if (!filter) continue;
  const verdict = filter.querySelector("select");
  const words = filter.querySelector("input");
  const count = filter.querySelector("output");
  const responses = [...section.querySelectorAll("details")];
  const texts = responses.map((response) => response.textContent.toLowerCase());
  const show = () => {
    const wanted = words.value.toLowerCase();
    let shown = 0;
    responses.forEach((response, i) => {
      response.hidden =
        (verdict.value && response.dataset.verdict !== verdict.value) || !texts[i].includes(wanted);
      shown += response.hidden ? 0 : 1;
    });
    count.textContent = `${shown} shown`;
  };
  verdict.addEventListener("change", show);
  words.addEventListener("input", show);
}
