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

  // --- the design in the address bar: the last one, once nothing has changed for a moment. Browsers drop changes of the address
  // that come too fast, and each keeps them busy while they have a step to draw.
  const PAUSE = 250;
  let design = "", written = 0;
  function writeAddress() {
    clearTimeout(written);
    if (design && location.hash.slice(1) !== design) history.replaceState(history.state, "", `#${design}`);
  }
  window.gpuplan.keepAddress = (fragment) => {
    design = fragment;
    clearTimeout(written);
    written = setTimeout(writeAddress, PAUSE);
  };

  // --- what was done on the page: each event has a number and is kept until the session has said that it has it. The session
  // takes them in their order and each once, so what is kept can be sent again whenever the connection was lost.
  let events = [], number = 0, line, send, look;
  window.gpuplan.post = (event, deliver) => {
    if (!line) return deliver(event);  // a notebook with parts of the workbook only
    const numbered = { ...event, number: ++number };
    events.push(numbered);
    if (line.connectionStatus === "connected") deliver(numbered);
  };
  window.gpuplan.heard = (taken) => { events = events.filter((event) => event.number > taken); };

  // The workbook's connection to its session, and how to send through it. Gives back what the page remembers of this design
  // from before it was loaded again: the step, the view, and input that the session before did not take.
  window.gpuplan.join = (connection, deliver, looked) => {
    [line, send, look] = [connection, deliver, looked];
    line.connectionStatusChanged.connect((_, status) => {
      if (status === "connected") {
        events.forEach(send);
        if (rejoining) here();
      } else poll();
    });
    const before = remembered;
    remembered = null;
    return before?.hash && before.hash === location.hash ? before : null;
  };
  const MEMORY = "gpuplan";
  function recall() {
    try {
      return JSON.parse(sessionStorage.getItem(MEMORY));
    } catch {
      return null;  // a browser may have no storage
    }
  }
  function remember() {
    try {
      const inputs = events.filter(({ type }) => type === "set");
      const hash = design ? `#${design}` : location.hash;
      sessionStorage.setItem(MEMORY, JSON.stringify({ hash, address: location.hash, inputs, ...look?.() }));
    } catch { /* as above: the address bar has the design all the same */ }
  }
  let remembered = recall();
  // Left before the last design was in the address, and loaded again: a browser may load the address from before.
  const again = ["reload", "back_forward"].includes(performance.getEntriesByType("navigation")[0]?.type);
  if (again && remembered?.address && remembered.address === location.hash) history.replaceState(history.state, "", remembered.hash);

  // --- session: is this page's own kernel process still alive? The first answer also brings the XSRF cookie.
  const INTERVAL = 5000, CHECK = 2500, RETRY = 1000, PATIENCE = 6000, REJOIN = 20000;
  let failures = 0, ended = false, leaving = false, timer = 0;
  let away = false, rejoining = 0, unheard = 0, focused = null;
  let url = "", base = "", kernel = "";

  function end(title) {
    ended = true;
    clearTimeout(timer);
    document.getElementById("loading")?.remove();
    document.getElementById("gpuplan-away").hidden = true;
    const dialog = document.getElementById("gpuplan-lost");
    if (title) document.getElementById("gpuplan-lost-title").textContent = title;
    if (!dialog.open) dialog.showModal();
  }

  // No answer: the page can be read, but takes no input that it could not carry out.
  function leave() {
    if (away) return;
    away = true;
    focused = document.activeElement;
    focused?.blur();  // what is being typed is entered
    document.getElementById("rendered_cells").inert = true;
    document.getElementById("gpuplan-away").hidden = false;
  }

  function here() {
    away = false;
    rejoining = 0;
    document.getElementById("rendered_cells").inert = false;
    document.getElementById("gpuplan-away").hidden = true;
    if (focused?.isConnected) focused.focus({ preventScroll: true });
    focused = null;
  }

  // The server answers. A new connection to the session, if the one before was cut, or is dead without knowing it: then the
  // session has nothing to do and yet does not take what was sent.
  function rejoin(busy) {
    const first = busy ? 0 : events[0]?.number ?? 0;
    const stuck = first > 0 && first === unheard;
    unheard = first;
    if (line?.status === "dead" || (rejoining && !busy && Date.now() - rejoining > REJOIN)) end("The connection to this session was lost.");
    else if (away && !line) here();
    else if (line && !rejoining && (away || stuck)) {
      rejoining = Date.now();
      line.reconnect().catch(() => {});  // it is asked again below, and gives up in time
    }
  }

  async function poll() {
    clearTimeout(timer);
    if (ended || leaving || !url) return;
    try {
      const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      if (ended || leaving) return;
      if (answer.status === 403 || answer.status === 404) return end();
      if (!answer.ok) throw new Error(String(answer.status));
      const { alive, busy } = await answer.json();
      if (!alive) return end();
      failures = 0;
      rejoin(busy);
    } catch {
      failures += 1;
      rejoining = 0;
      if (failures >= 2 && !leaving && !ended) leave();
    }
    clearTimeout(timer);
    if (!leaving && !ended) timer = setTimeout(poll, failures || away ? RETRY : unheard ? CHECK : INTERVAL);
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
    addEventListener("online", poll);
    addEventListener("offline", poll);
    poll();
  };

  // --- leaving: free the kernel. Voila does so on beforeunload, which mobile browsers and a forced close skip.
  window.addEventListener("pagehide", () => {
    leaving = true;
    clearTimeout(timer);
    remember();
    writeAddress();
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
