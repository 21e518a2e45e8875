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

  // Shown and open in the file, for readers without scripts. A static drawing of each chart would cost 40 KB, ten of them
  // as much as the library that draws them all; its table costs six and can be read aloud, searched and copied.
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
  const PAPER = 660; // CSS pixels between the margins of A4 and of Letter
  const FILE = 760;
  const figures = all("figure.chart");
  const views = new Map();

  const unpack = async () => {
    const bytes = Uint8Array.from(atob(one("#vega").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    document.head.append(make("script", { textContent: await new Response(stream).text() }));
    if (!window.vegaEmbed) throw new Error("the drawing library did not start");
  };
  // Vega-Lite itself warns of a width that fits beside a height in steps; Vega takes the two.
  const embed = (place, spec, { fluid = false, columns = 0 } = {}) =>
    window.vegaEmbed(place, spec, {
      mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip: showTip,
      patch: (vega) => {
        if (fluid) vega.autosize = { type: "fit-x", contains: "padding" };
        if (columns) for (const legend of vega.legends ?? []) legend.columns = columns;
        return vega;
      },
    });
  // Labels give way where there is little room; what is cut stands in the tooltip and in the table.
  const whole = (chart, room) => {
    const spec = structuredClone(chart.spec);
    const config = structuredClone(store.configs[chart.config]);
    const most = (part, name, limit) => (config[part] = { ...config[part], [name]: Math.min(config[part]?.[name] ?? limit, Math.round(limit)) });
    most("axis", "labelLimit", room * 0.4);
    // A longer title would take the whole room for itself; in a narrow one it may run under the labels beside the axis.
    most("axis", "titleLimit", room * 0.6);
    if (room < 480) config.axisX = { ...config.axisX, titleAnchor: "end", titleLimit: room - 10 };
    most("legend", "labelLimit", room - 40);
    most("legend", "titleLimit", room - 40);
    if (chart.fluid) spec.width = room;
    const datasets = Object.fromEntries(chart.data.map((name) => [name, rows(name).filter(isChosen)]));
    return { ...spec, config, datasets };
  };
  // Facets know the width of a part only: share the room there is among as many columns as it takes.
  const shared = (spec, drawn, room) => {
    const inner = spec.spec;
    if (typeof inner?.width !== "number" || spec.facet?.column || Math.abs(drawn - room) < 3) return null;
    const shown = spec.columns ?? 1;
    const beside = drawn / shown - inner.width;
    let columns = shown;
    while (columns > 1 && room / columns - beside < Math.min(inner.width, 150)) columns -= 1;
    const width = Math.max(90, Math.min(Math.floor(room / columns - beside) - 2, inner.width * 2.5));
    return { ...spec, ...(spec.columns ? { columns } : {}), spec: { ...inner, width } };
  };
  // A legend is one row however long: as many columns as there is room for, where it would run out of the chart.
  const legendColumns = (place) => {
    const edge = place.getBoundingClientRect();
    for (const legend of all(".role-legend", place)) {
      const box = legend.getBoundingClientRect();
      if (box.right <= edge.right + 1) continue;
      const widest = Math.max(...all(".role-legend-label", legend).map((label) => label.getBoundingClientRect().width));
      return Math.max(1, Math.floor((edge.right - box.left) / (widest + 32)));
    }
    return 0;
  };
  const isEmpty = (chart) =>
    canNarrow(chart) && chart.data.filter((name) => canNarrow({ data: [name] })).every((name) => !rows(name).some(isChosen));

  // Nothing in here waits for anything but promises that are kept at once: printing waits for no more than these.
  const draw = async (figure, room = 0) => {
    const chart = store.charts[figure.id];
    const place = one(".view", figure);
    views.get(figure)?.finalize();
    views.delete(figure);
    if (isEmpty(chart)) {
      place.replaceChildren(make("p", { className: "nothing", textContent: `No row of this chart is of ${Object.values(chosen).join(", ")}.` }));
      place.style.minHeight = "";
      return;
    }
    const width = room || place.clientWidth;
    place.style.minHeight ||= `${place.offsetHeight}px`;
    try {
      const { fluid } = chart;
      const spec = whole(chart, width);
      let { view } = await embed(place, spec, { fluid });
      const again = shared(spec, one("svg", place).width.baseVal.value, width);
      const columns = legendColumns(place);
      if (again || columns) {
        view.finalize();
        ({ view } = await embed(place, again ?? spec, { fluid, columns }));
      }
      views.set(figure, view);
      view.addEventListener("click", (_event, item) => visit(item?.datum?.trajectory_id));
      name(place);
      figure.dataset.drawn = room ? "paper" : "screen";
      performance.mark(figure.id);
    } catch (error) {
      place.textContent = `This chart could not be drawn (${error.message}).`;
      one("details.twin", figure)?.setAttribute("open", "");
    }
    place.style.minHeight = "";
  };
  // What the reader looks at comes first, then the rest in reading order; between two charts the page answers.
  const stale = new Set();
  let work = null;
  const isInView = (figure) => {
    const { top, bottom } = figure.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const drawStale = async () => {
    const { dataset } = document.documentElement;
    dataset.work = "drawing";
    while (stale.size) {
      const waiting = figures.filter((figure) => stale.has(figure));
      const figure = waiting.find(isInView) ?? waiting[0];
      stale.delete(figure);
      await draw(figure);
      await new Promise((resolve) => setTimeout(resolve));
    }
    work = null;
    dataset.work = "done";
  };
  const redraw = (some = figures) => {
    if (!window.vegaEmbed) return null;
    some.forEach((figure) => stale.add(figure));
    work ??= drawStale();
    return work;
  };
  // The height a chart will have, near enough: what stands below it need not jump.
  const reserve = (figure) => {
    const chart = store.charts[figure.id];
    const { height, encoding, layer } = chart.spec;
    const y = encoding?.y ?? layer?.find((part) => part.encoding?.y)?.encoding.y;
    const categories = new Set(chart.data.flatMap((name) => store.data[name][y?.field] ?? [])).size;
    const plot = typeof height === "number" ? height : (height?.step ?? 20) * Math.max(categories, 3);
    one(".view", figure).style.minHeight = `${plot + 60}px`;
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
    const spec = { ...whole(chart, FILE), title: chart.title ?? undefined };
    const inked = JSON.parse(JSON.stringify({ ...spec, config: { ...spec.config, background: "white" }, padding: 12 })
      .replaceAll('"currentColor"', '"#1b1d20"'));
    const { view } = await embed(make("div"), inked, chart);
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
    if (table.tBodies[0].rows.length > 1) heads.forEach((head, index) => {
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
  const FILTERS = { traj_type: "mode", env_id: "environment" };
  const form = one(".filters");
  const dataOf = (figure) => store.charts[figure.id].data.map((name) => store.data[name]);
  const cellsOf = (table, column) => {
    const at = all("thead th", table).findIndex((head) => head.dataset.name === column);
    return at < 0 ? [] : [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
  };
  // Where some chart or table tells several apart; env_2 comes before env_10.
  const valuesOf = (column, tables) => {
    const found = [...Object.values(store.data).flatMap((data) => data[column] ?? []), ...tables.flatMap((table) => cellsOf(table, column))];
    return [...new Set(found)].filter((value) => value && value !== ABSENT).map(String)
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  };
  const narrowPage = () => {
    const before = Object.keys(chosen);
    for (const key of before) delete chosen[key];
    for (const select of all("select", form)) if (select.value) chosen[select.dataset.column] = select.value;
    const active = Object.entries(chosen);
    const touches = (figure, keys) => dataOf(figure).some((data) => keys.some((key) => key in data));
    const touched = figures.filter((figure) => touches(figure, Object.keys(chosen)));
    const words = active.map(([, value]) => value).join(", ");
    one(".state", form).textContent = active.length
      ? `Only ${words}: ${touched.length} of ${figures.length} charts, and the tables with that column. Titles and headline numbers are of the whole page.`
      : "";
    const tables = all("table").filter((table) => table.tools);
    tables.forEach(sift);
    siftTranscripts(tables);
    figures.forEach((figure) => figure.classList.toggle("unmoved", active.length > 0 && !touched.includes(figure)));
    redraw(figures.filter((figure) => touches(figure, [...before, ...Object.keys(chosen)])));
  };
  // A transcript follows the row that leads to it.
  const siftTranscripts = (tables) => {
    const listed = tables.flatMap((table) => [...table.tBodies[0].rows])
      .flatMap((row) => all("a[href^='#t-']", row).map((link) => [link.textContent, row.hidden]));
    const shown = new Set(listed.filter(([, hidden]) => !hidden).map(([id]) => id));
    for (const [id] of listed) transcripts.get(id).hidden = Object.keys(chosen).length > 0 && !shown.has(id);
  };
  const offerFilters = (tables) => {
    for (const [column, label] of Object.entries(FILTERS)) {
      const values = valuesOf(column, tables);
      if (values.length < 2) continue;
      const select = make("select", {}, ...["", ...values].map((value) => make("option", { value, textContent: value || "all" })));
      select.dataset.column = column;
      one("button", form).before(make("label", { textContent: `${label} ` }, select));
      form.hidden = false;
    }
    form.addEventListener("change", narrowPage);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(narrowPage));
  };

  // ---- contents follow the reader ---------------------------------------------------------------------------------
  const contents = one(".contents details");
  const links = all(".contents a");
  const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  let current = null;
  const mark = () => {
    const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const passed = sections.filter((section) => isAtEnd || section.getBoundingClientRect().top < innerHeight * 0.12);
    const link = links[sections.indexOf(passed.at(-1) ?? sections[0])];
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "true");
    current = link;
  };
  let marking = 0;
  addEventListener("scroll", () => (marking ||= requestAnimationFrame(() => (marking = mark()))), { passive: true });
  mark();
  const fold = () => (contents.open = !narrow.matches);
  narrow.addEventListener("change", fold);
  fold();
  contents.addEventListener("click", (event) => event.target.closest("a") && narrow.matches && (contents.open = false));
  const here = one(".suite [aria-current]");
  if (here) here.closest("ul").scrollLeft = here.offsetLeft - 16;

  // ---- begin ------------------------------------------------------------------------------------------------------
  const tables = all("table").filter((table) => table.tHead && table.tBodies.length);
  tables.forEach((table, number) => {
    linkIds(table);
    dressTable(table, number);
  });
  offerFilters(tables);
  if (location.hash) follow();

  const begin = async () => {
    figures.forEach(reserve);
    figures.forEach(chartTools);
    await unpack();
    let width = innerWidth;
    let waiting = 0;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        if (innerWidth === width) return;
        width = innerWidth;
        redraw();
      }, 200);
    });
    addEventListener("beforeprint", () => {
      stale.clear();
      figures.forEach((figure) => draw(figure, PAPER));
    });
    addEventListener("afterprint", () => redraw());
    await redraw();
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
