// A figure of the view: Altair's own widget, with three things around it. LIBRARY, the text of its module with the chart
// library inside, stands before this.
//
// anywidget gives up a module that has not started within two seconds, and then drops every message to it. So this one
// starts at once, and what is large is unpacked when a figure is drawn, once for all figures of the page.

function library() {
  window.trajectoryCharts ??= import(URL.createObjectURL(new Blob([LIBRARY], { type: "text/javascript" })));
  return window.trajectoryCharts;
}

async function render({ model, el, ...rest }) {
  const { default: widget } = await library();
  const cleanup = await widget.render({ model, el, ...rest });
  // What Python sent last has arrived: without this it says that the figure may be behind.
  const confirm = () => {
    model.set("confirmed", model.get("edition"));
    model.save_changes();
  };
  model.on("change:edition", confirm);
  confirm();
  reach(el);
  return cleanup;
}

// Names can be reached and chosen by keys: Tab to the list, arrows within it, Enter or the space bar to choose.
function reach(el) {
  const names = () =>
    [...el.querySelectorAll("path[aria-label^='name: ']")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const wordOf = (mark) => mark?.getAttribute("aria-label").split(";")[0];
  let current;
  const offer = () => {
    const marks = names();
    const first = marks.find((mark) => wordOf(mark) === current) ?? marks[0];
    marks.forEach((mark) => mark.setAttribute("tabindex", mark === first ? "0" : "-1"));
    return first;
  };
  const move = (mark) => {
    current = wordOf(mark);
    offer()?.focus();
  };
  el.addEventListener("keydown", (event) => {
    const marks = names();
    const at = marks.indexOf(event.target);
    if (at < 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      move(marks[Math.min(Math.max(at + step, 0), marks.length - 1)]);
    } else if (event.key === "Enter" || event.key === " ") {
      current = wordOf(event.target);
      const box = event.target.getBoundingClientRect();
      const where = { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
      event.target.dispatchEvent(new MouseEvent("click", where));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  // Vega makes the marks anew where rows change: the one that had the focus has it again.
  new MutationObserver(() => {
    const hadFocus = el.dataset.hasFocus === "true";
    const first = offer();
    if (hadFocus && document.activeElement === document.body) first?.focus();
  }).observe(el, { childList: true, subtree: true });
  el.addEventListener("focusin", () => (el.dataset.hasFocus = "true"));
  el.addEventListener("pointerdown", () => (el.dataset.hasFocus = "false"));
  offer();
}

export default { render };
