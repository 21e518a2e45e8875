"use strict";
// Sorting the tables of the index. Without this script they stand in their natural order.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, index) => row.cells[index].dataset.value ?? row.cells[index].textContent.trim();
  const sort = (head, index) => {
    const isNumber = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const isDown = before ? before === "ascending" : isNumber;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const sign = isDown ? -1 : 1;
    const compare = (a, b) => (isNumber ? a - b : a.localeCompare(b, "en", { numeric: true }));
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, index), row]);
    // What is absent comes last either way; equals keep their order.
    rows.sort(([a], [b]) => (a === "" || b === "" ? (a === "") - (b === "") : sign * compare(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  heads.forEach((head, index) => {
    if (!("sort" in head.dataset)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, index));
    head.append(button);
  });
}
