"use strict";
(() => {
  const part = document.getElementById("switches");
  const { command, columns } = JSON.parse(document.getElementById("rows").textContent);
  const told = (name) => part.querySelector(`[data-told="${name}"]`);
  const box = (name) => part.querySelector(`[name="${name}"]`);
  const most = (name) => {
    const value = Number.parseInt(box(name).value, 10);
    return value > 0 ? value : Infinity;
  };
  const format = new Intl.NumberFormat("en-US");

  function count() {
    const seen = new Map();
    const sums = { trajectories: 0, calls: 0, tokens: 0, rewarded: 0, reward: 0 };
    const environments = new Set();
    const modes = new Set();
    const perScenario = most("scenario");
    const budget = most("tokens");
    for (let at = 0; at < columns.copy.length; at += 1) {
      if (box("loops").checked && columns.loops[at]) continue;
      if (box("failed").checked && columns.failed[at]) continue;
      if (budget < Infinity && (columns.tokens[at] === null || columns.tokens[at] > budget)) continue;
      if (box("copy").checked && columns.copy[at]) continue;
      const before = seen.get(columns.scenario[at]) ?? 0;
      if (before >= perScenario) continue;
      seen.set(columns.scenario[at], before + 1);
      sums.trajectories += 1;
      sums.calls += columns.calls[at];
      sums.tokens += columns.tokens[at] ?? 0;
      if (columns.environment[at] !== null) environments.add(columns.environment[at]);
      modes.add(columns.mode[at]);
      if (columns.reward[at] !== null) {
        sums.rewarded += 1;
        sums.reward += columns.reward[at];
      }
    }
    const fewest = Number(part.dataset.fewest);
    const reward = sums.rewarded >= fewest ? (sums.reward / sums.rewarded).toFixed(2) : "–";
    told("trajectories").textContent = format.format(sums.trajectories);
    told("calls").textContent = format.format(sums.calls);
    told("tokens").textContent = format.format(sums.tokens);
    told("environments").textContent = format.format(environments.size);
    told("modes").textContent = format.format(modes.size);
    if (told("reward")) told("reward").textContent = `${reward} over ${format.format(sums.rewarded)}`;
    const where = [
      box("loops").checked ? "loops = 0" : "",
      box("failed").checked ? "failed_calls = 0" : "",
      budget < Infinity ? `tokens <= ${budget}` : "",
    ].filter(Boolean);
    const limits = [
      where.length ? `--where "${where.join(" AND ")}"` : "",
      box("copy").checked ? "--drop-copies" : "",
      perScenario < Infinity ? `--per-scenario ${perScenario}` : "",
    ].filter(Boolean);
    told("command").textContent = [command, ...limits].join(" ");
  }

  part.hidden = false;
  part.addEventListener("input", count);
  part.addEventListener("submit", (event) => event.preventDefault());
  count();
})();
