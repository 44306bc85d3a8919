// Writes the place of every block of every .flow into #measured, in CSS pixels of its page.
function union(rects, origin) {
  const seen = [...rects].filter(r => r.width > 0 && r.height > 0);
  if (!seen.length) return null;
  return [
    Math.min(...seen.map(r => r.left)) - origin.left, Math.min(...seen.map(r => r.top)) - origin.top,
    Math.max(...seen.map(r => r.right)) - origin.left, Math.max(...seen.map(r => r.bottom)) - origin.top,
  ];
}

function measure() {
  const found = [];
  document.querySelectorAll(".page").forEach((page, index) => {
    const origin = page.getBoundingClientRect();
    for (const block of page.querySelectorAll(".flow > *")) {
      const inside = document.createRange();
      inside.selectNodeContents(block);
      // A line of a font for formulas is far taller than what it prints, so MathML counts by its elements.
      const rects = block.querySelector("math")
        ? [...block.querySelectorAll(".words, td, math")].flatMap(e => [...e.getClientRects()])
        : inside.getClientRects();
      const svg = block.querySelector(":scope > svg");
      found.push({
        index: Number(block.dataset.index),
        page: index + 1,
        column: Number(block.parentElement.dataset.column ?? 1),
        rect: union(rects, origin),
        svg: svg && union([svg.getBoundingClientRect()], origin),
        formulas: [block, ...block.querySelectorAll("[data-latex]")].filter(e => e.dataset.latex).map(e => ({
          latex: e.dataset.latex,
          rect: union([...e.querySelectorAll(".katex-html > .base, math, math *")].map(b => b.getBoundingClientRect()), origin),
        })),
      });
    }
  });
  document.getElementById("measured").textContent = JSON.stringify(found);
}
