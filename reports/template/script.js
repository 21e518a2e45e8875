"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const button = (label, hint, action) => {
    const element = make("button", { type: "button", textContent: label });
    element.append(make("span", { className: "hidden", textContent: ` ${hint}` }));
    element.addEventListener("click", () => action(element));
    return element;
  };
  const store = JSON.parse(one("#store").textContent);
  const narrow = matchMedia("(max-width: 67.99rem)");
  const chosen = {};

  // Shown and open in the file, for readers without scripts.
  all(".undrawn").forEach((sentence) => sentence.remove());
  all("details.twin").forEach((details) => details.removeAttribute("open"));

  // ---- data -------------------------------------------------------------------------------------------------------
  const rows = (name) => {
    const columns = Object.entries(store.data[name]);
    const height = columns.length ? columns[0][1].length : 0;
    return Array.from({ length: height }, (_, i) => Object.fromEntries(columns.map(([key, values]) => [key, values[i]])));
  };
  const isChosen = (row) => Object.entries(chosen).every(([key, value]) => !(key in row) || row[key] === value);
  const canNarrow = (chart) => chart.data.some((name) => Object.keys(chosen).some((key) => key in store.data[name]));

  // ---- files ------------------------------------------------------------------------------------------------------
  // A spreadsheet takes a text that begins like a formula for one; an apostrophe keeps it a text.
  const cell = (value) => {
    const words = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(words) && Number.isNaN(Number(words)) ? `'${words}` : words;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const csv = (table) => `${table.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
  const save = (name, content, type) => {
    const blob = content instanceof Blob ? content : new Blob([content], { type });
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const copy = async (words) => {
    try {
      await navigator.clipboard.writeText(words);
    } catch {
      const area = make("textarea", { value: words });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };

  // ---- tooltips: text, whatever the data hold ---------------------------------------------------------------------
  const tip = make("div", { id: "tip", hidden: true, ariaHidden: "true" });
  document.body.append(tip);
  const showTip = (_handler, event, _item, value) => {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const pairs = typeof value === "object" ? Object.entries(value) : [];
    const list = pairs.flatMap(([key, words]) => [make("dt", { textContent: key }), make("dd", { textContent: words })]);
    tip.replaceChildren(pairs.length ? make("dl", {}, ...list) : String(value));
    const { width, height } = tip.getBoundingClientRect();
    const beside = (at, size, room) => Math.max(4, at + size + 16 < room ? at + 12 : at - size - 12);
    tip.style.left = `${beside(event.clientX, width, innerWidth)}px`;
    tip.style.top = `${beside(event.clientY, height, innerHeight)}px`;
  };
  addEventListener("keydown", (event) => event.key === "Escape" && (tip.hidden = true));
  addEventListener("scroll", () => (tip.hidden = true), { passive: true });

  // ---- charts -----------------------------------------------------------------------------------------------------
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(one("#vega").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    document.head.append(make("script", { textContent: await new Response(stream).text() }));
    if (!window.vegaEmbed) throw new Error("the drawing library did not start");
  };
  const embed = (place, spec) =>
    window.vegaEmbed(place, spec, {
      mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip: showTip,
    });
  const whole = (chart) => ({
    ...structuredClone(chart.spec),
    config: store.configs[chart.config],
    datasets: Object.fromEntries(chart.data.map((name) => [name, rows(name).filter(isChosen)])),
  });

  // Facets, and charts whose height grows in steps, have fixed widths: share the room there is among the columns.
  const fitted = (chart, spec, drawn, room) => {
    if (Math.abs(drawn - room) < 3) return null;
    if (chart.measured) return { ...spec, width: Math.max(120, spec.width + room - drawn) };
    const inner = spec.spec;
    if (typeof inner?.width !== "number" || spec.facet?.column) return null;
    const shown = spec.columns ?? 1;
    const beside = drawn / shown - inner.width;
    let columns = shown;
    while (columns > 1 && room / columns - beside < Math.min(inner.width, 150)) columns -= 1;
    const width = Math.max(90, Math.min(Math.floor(room / columns - beside) - 2, inner.width * 2.5));
    return { ...spec, ...(spec.columns ? { columns } : {}), spec: { ...inner, width } };
  };

  const views = new Map();
  const draw = async (figure) => {
    const chart = store.charts[figure.id];
    const place = one(".view", figure);
    views.get(figure)?.finalize();
    place.style.minHeight = `${place.offsetHeight}px`;
    try {
      const spec = whole(chart);
      let { view } = await embed(place, spec);
      const again = fitted(chart, spec, one("svg", place).width.baseVal.value, place.clientWidth);
      if (again) {
        view.finalize();
        ({ view } = await embed(place, again));
      }
      views.set(figure, view);
      view.addEventListener("click", (_event, item) => visit(item?.datum?.trajectory_id));
      name(place);
    } catch (error) {
      place.textContent = `This chart could not be drawn (${error.message}).`;
      one("details.twin", figure)?.setAttribute("open", "");
    }
    place.style.minHeight = "";
  };
  // A picture to those who hear the page, named by what it shows; what scrolls can be reached by keyboard.
  const name = (place) => {
    const svg = one("svg", place);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", place.dataset.description);
    svg.removeAttribute("aria-roledescription");
    // Inside a picture nothing is announced; Vega's roles without a name would be errors all the same.
    all("[role]:not([aria-label])", svg).forEach((part) => part.removeAttribute("role"));
    const scrolls = place.scrollWidth > place.clientWidth + 1;
    if (scrolls) Object.assign(place, { tabIndex: 0, role: "group", ariaLabel: "Chart, scrolls sideways" });
    else ["tabindex", "role", "aria-label"].forEach((attribute) => place.removeAttribute(attribute));
  };

  // A file of its own has paper and ink of its own, and its title back.
  const picture = async (figure, type) => {
    const chart = store.charts[figure.id];
    const spec = { ...whole(chart), title: chart.title ?? undefined };
    if (spec.width === "container") spec.width = 760;
    const inked = JSON.parse(JSON.stringify({ ...spec, config: { ...spec.config, background: "white" }, padding: 12 })
      .replaceAll('"currentColor"', '"#1b1d20"'));
    const { view } = await embed(make("div"), inked);
    const file = `${store.name}-${figure.id}.${type}`;
    if (type === "svg") save(file, await view.toSVG(), "image/svg+xml");
    else (await view.toCanvas(2)).toBlob((blob) => save(file, blob));
    view.finalize();
  };
  const chartTools = (figure) => {
    const chart = store.charts[figure.id];
    const table = () => chart.data.flatMap((name) => {
      const names = Object.keys(store.data[name]);
      return [names, ...rows(name).filter(isChosen).map((row) => names.map((key) => row[key]))];
    });
    const bar = make("div", { className: "tools" });
    bar.append(
      button("CSV", "of this chart's data", () => save(`${store.name}-${figure.id}.csv`, csv(table()), "text/csv")),
      button("SVG", "of this chart", () => picture(figure, "svg")),
      button("PNG", "of this chart", () => picture(figure, "png")),
    );
    figure.insertBefore(bar, one("details.twin", figure));
  };

  // ---- tables -----------------------------------------------------------------------------------------------------
  const ABSENT = "–";
  const raw = (td) => td.dataset.value ?? (td.textContent === ABSENT ? "" : td.textContent);
  // The numbers behind a chart are shown rounded; their text is exact enough to sort by, and the CSV has them whole.
  const amount = (words) => (Number.isNaN(Number(words)) ? Number(words.replace(/[^\d.-]/g, "")) : Number(words));
  const compare = (a, b, numeric) => (numeric ? amount(a) - amount(b) : a.localeCompare(b, "en", { numeric: true }));
  const sort = (table, head, index) => {
    const numeric = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const order = before ? (before === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
    all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const keyed = [...table.tBodies[0].rows].map((row) => [raw(row.cells[index]), row]);
    // What is absent comes last either way; equals keep their order.
    keyed.sort(([a], [b]) => (a === "" || b === "" ? (a === "") - (b === "") : sign * compare(a, b, numeric)));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  };
  const sift = (table) => {
    const words = (one("input", table.tools)?.value ?? "").toLocaleLowerCase();
    const names = all("thead th", table).map((head) => head.dataset.name);
    const limits = Object.entries(chosen).map(([key, value]) => [names.indexOf(key), value]).filter(([at]) => at >= 0);
    let left = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !(
        limits.every(([at, value]) => row.cells[at].textContent === value) &&
        (!words || row.textContent.toLocaleLowerCase().includes(words))
      );
      left += !row.hidden;
    }
    const count = one("[role=status]", table.tools);
    if (count) count.textContent = words || limits.length ? `${left} of ${table.tBodies[0].rows.length} rows` : "";
  };
  const dressTable = (table, number) => {
    const heads = all("thead th", table);
    heads.forEach((head, index) => {
      const control = make("button", { type: "button" }, ...head.childNodes);
      if (head.title) control.title = head.title;
      head.removeAttribute("title");
      head.replaceChildren(control);
      control.addEventListener("click", () => sort(table, head, index));
    });
    const caption = one("caption", table)?.textContent ?? "";
    const values = () => [
      heads.map((head) => head.dataset.name),
      ...[...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => [...row.cells].map((td) =>
        td.classList.contains("n") && Number.isFinite(Number(raw(td))) && raw(td) !== "" ? Number(raw(td)) : raw(td))),
    ];
    table.tools = make("div", { className: "tools" });
    if (table.tBodies[0].rows.length > 8) {
      const field = make("input", { type: "search", size: 16, placeholder: "Search", ariaLabel: `Search in: ${caption}` });
      field.addEventListener("input", () => sift(table));
      const count = make("span");
      count.setAttribute("role", "status");
      table.tools.append(field, count);
    }
    table.tools.append(button("Copy", `the table: ${caption}`, async (control) => {
      await copy(values().map((row) => row.join("\t")).join("\n"));
      const words = control.firstChild;
      words.textContent = "Copied";
      setTimeout(() => (words.textContent = "Copy"), 1500);
    }));
    if (!table.closest(".twin")) {
      const file = `${store.name}-table-${number + 1}.csv`;
      table.tools.append(button("CSV", `of the table: ${caption}`, () => save(file, csv(values()), "text/csv")));
    }
    const region = table.closest(".scroll") ?? table;
    region.before(table.tools);
  };

  // ---- trajectories: ids lead to their transcripts ----------------------------------------------------------------
  const transcripts = new Map(all(".transcript").map((details) => [one("summary b", details).textContent, details]));
  const unfold = (target) => {
    for (let element = target; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
    target.scrollIntoView();
  };
  const visit = (id) => transcripts.has(id) && (location.hash = transcripts.get(id).id);
  const linkIds = (table) => {
    const at = all("thead th", table).findIndex((head) => head.dataset.name === "trajectory_id");
    if (at < 0) return;
    for (const { cells } of table.tBodies[0].rows) {
      const target = transcripts.get(cells[at].textContent);
      if (target) cells[at].replaceChildren(make("a", { href: `#${target.id}`, textContent: cells[at].textContent }));
    }
  };
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("details")) unfold(target);
  };
  addEventListener("hashchange", follow);

  // ---- narrowing the page to a mode or an environment -------------------------------------------------------------
  const form = one(".filters");
  const narrowPage = async () => {
    for (const key of Object.keys(chosen)) delete chosen[key];
    for (const select of all("select", form)) if (select.value) chosen[select.dataset.column] = select.value;
    const active = Object.values(chosen);
    const figures = all("figure.chart");
    const touched = figures.filter((figure) => canNarrow(store.charts[figure.id]));
    one(".state", form).textContent = active.length
      ? `${active.join(", ")}: ${touched.length} of ${figures.length} charts and the tables that tell it apart. Titles and headline numbers are of the whole page.`
      : "";
    all("table").filter((table) => table.tools).forEach(sift);
    for (const figure of figures) {
      figure.classList.toggle("unmoved", active.length > 0 && !touched.includes(figure));
      if (window.vegaEmbed) await draw(figure);
    }
  };
  if (form) {
    form.hidden = false;
    form.addEventListener("change", narrowPage);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(narrowPage));
  }

  // ---- contents follow the reader ---------------------------------------------------------------------------------
  const contents = one(".contents details");
  const entries = new Map(all(".contents a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      entries.forEach((link) => link.removeAttribute("aria-current"));
      entries.get(target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "0px 0px -70% 0px" });
  entries.forEach((_link, id) => document.getElementById(id) && watch.observe(document.getElementById(id)));
  if (contents) {
    const fold = () => (contents.open = !narrow.matches);
    narrow.addEventListener("change", fold);
    fold();
    contents.addEventListener("click", (event) => event.target.closest("a") && narrow.matches && (contents.open = false));
  }

  // ---- begin ------------------------------------------------------------------------------------------------------
  all("table").filter((table) => table.tHead && table.tBodies.length).forEach((table, number) => {
    linkIds(table);
    dressTable(table, number);
  });
  if (location.hash) follow();

  const figures = all("figure.chart");
  const begin = async () => {
    await unpack();
    for (const figure of figures) {
      await draw(figure);
      chartTools(figure);
    }
    let width = innerWidth;
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        if (innerWidth === width) return;
        width = innerWidth;
        figures.filter((figure) => store.charts[figure.id].spec.width !== "container").forEach(draw);
      }, 200);
    });
  };
  if (figures.length) {
    begin()
      .catch((error) => {
        all(".view").forEach((place) => (place.textContent = `The charts could not be drawn (${error.message}); their numbers stand below.`));
        all("details.twin").forEach((details) => (details.open = true));
      })
      .finally(() => (document.documentElement.dataset.drawn = String(all(".view svg").length)));
  }
})();
