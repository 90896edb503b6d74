// Runs in <head>, before anything is painted: the theme, the hooks Voila calls, and the end of the session.
(() => {
  "use strict";
  const root = document.documentElement;

  // --- theme: ?theme=light|dark|auto, light if not said. The server does not look at it, so every visitor gets a warm kernel.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  function applyTheme() {
    const asked = new URLSearchParams(location.search).get("theme");
    const theme = asked === "dark" || (asked === "auto" && dark.matches) ? "dark" : "light";
    const changed = root.dataset.theme !== theme;
    root.dataset.theme = theme;
    document.getElementById("gpuplan-lab-light").disabled = theme === "dark";
    document.getElementById("gpuplan-lab-dark").disabled = theme === "light";
    if (document.body) {
      document.body.dataset.jpThemeLight = String(theme === "light");
      document.body.dataset.jpThemeName = theme === "light" ? "JupyterLab Light" : "JupyterLab Dark";
    }
    if (changed) window.dispatchEvent(new CustomEvent("gpuplan:theme", { detail: theme }));
  }
  dark.addEventListener("change", applyTheme);
  document.addEventListener("DOMContentLoaded", applyTheme);
  applyTheme();

  window.gpuplan = {
    get theme() { return root.dataset.theme; },
    setTheme(name) {
      const url = new URL(location.href);
      url.searchParams.set("theme", name);
      history.replaceState(history.state, "", url);
      applyTheme();
    },
  };

  // The token has done its work (a cookie replaces it): keep it out of the address bar, screenshots and shared links.
  if (new URLSearchParams(location.search).has("token")) {
    const url = new URL(location.href);
    url.searchParams.delete("token");
    history.replaceState(history.state, "", url);
  }

  // --- opening: Voila says when cells and theme are there; the notice stays until the first widget is drawn.
  function reveal() {
    document.getElementById("rendered_cells").style.display = "";
    const loading = document.getElementById("loading");
    if (!loading) return;
    const cells = document.getElementById("rendered_cells");
    const ready = () => cells.querySelector(".jupyter-widgets, .jp-RenderedText, .jp-RenderedHTMLCommon, .jp-RenderedMarkdown");
    const done = () => { observer.disconnect(); clearTimeout(timer); loading.remove(); };
    const observer = new MutationObserver(() => { if (ready()) done(); });
    const timer = setTimeout(done, 30000);
    observer.observe(cells, { childList: true, subtree: true });
    if (ready()) done();
  }
  window.display_cells = window.voila_finish = () => {
    if (window.themeLoaded) reveal();
    else window.cellLoaded = true;
  };
  window.voila_heartbeat = window.voila_process = window.update_loading_text = () => {};

  // --- session: is this page's own kernel process still alive? The first answer also brings the XSRF cookie.
  const INTERVAL = 5000, RETRY = 2000;
  let failures = 0, ended = false, leaving = false, timer = 0;
  let url = "", base = "", kernel = "";

  function end() {
    ended = true;
    clearTimeout(timer);
    document.getElementById("loading")?.remove();
    const dialog = document.getElementById("gpuplan-lost");
    if (!dialog.open) dialog.showModal();
  }

  async function poll() {
    clearTimeout(timer);
    if (ended || leaving) return;
    try {
      const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(15000) });
      if (answer.status === 403 || answer.status === 404) return end();
      if (!answer.ok) throw new Error(String(answer.status));
      failures = 0;
      if (!(await answer.json()).alive) return end();
    } catch {
      failures += 1;
      if (failures >= 2 && !leaving) return end();
    }
    if (!leaving) timer = setTimeout(poll, failures ? RETRY : INTERVAL);
  }

  window.gpuplan.watch = () => {
    const config = JSON.parse(document.getElementById("jupyter-config-data").textContent);
    base = config.baseUrl;
    kernel = config.kernelId;
    url = `${base}gpuplan/session/${kernel}`;
    document.getElementById("gpuplan-reload").addEventListener("click", () => location.reload());
    const dialog = document.getElementById("gpuplan-lost");
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => { if (ended) dialog.showModal(); });
    document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") poll(); });
    poll();
  };

  // --- leaving: free the kernel. Voila does so on beforeunload, which mobile browsers and a forced close skip.
  window.addEventListener("pagehide", () => {
    leaving = true;
    clearTimeout(timer);
    if (!kernel) return;
    const form = new FormData();
    form.append("_xsrf", document.cookie.match(/(?:^|;\s*)_xsrf=([^;]*)/)?.[1] ?? "");
    navigator.sendBeacon(`${base}voila/api/shutdown/${kernel}`, form);
  });
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return; // back from the browser's cache: the kernel is gone, say so
    leaving = false;
    poll();
  });
})();
