// Runs in <head>, before anything is painted: the theme, the hooks Voila calls, and the end of the session.
(() => {
  "use strict";
  const root = document.documentElement;
  root.dataset.state = "busy";  // see declare in bar.js

  // --- theme: ?theme=light|dark|auto, else what was chosen last in this browser, else that of the system. The server does not look
  // at it, so every visitor gets a warm kernel.
  const dark = matchMedia("(prefers-color-scheme: dark)"), CHOSEN = "gpuplan-theme";
  function askedTheme() {
    const asked = new URLSearchParams(location.search).get("theme");
    if (asked) return asked;
    try {
      return localStorage.getItem(CHOSEN);
    } catch {
      return null;  // a browser may have no storage
    }
  }
  function applyTheme() {
    const asked = askedTheme();
    const theme = asked === "dark" || (asked !== "light" && dark.matches) ? "dark" : "light";
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
      try {
        localStorage.setItem(CHOSEN, name);
        url.searchParams.delete("theme");
      } catch {
        url.searchParams.set("theme", name);
      }
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
    const done = () => { clearTimeout(timer); loading.remove(); };
    const look = () => {
      if (ready()) done();
      const tried = cells.querySelector(".jupyter-widgets") && !cells.textContent.includes("Loading widget...");
      if (!tried) return;
      observer.disconnect();
      loadAgain(cells.textContent);
    };
    const observer = new MutationObserver(look);
    const timer = setTimeout(done, 30000);
    observer.observe(cells, { childList: true, subtree: true });
    look();
  }

  // ipywidgets waits two seconds for a widget and then gives it up without another look, although it may have come in the last tenth
  // of a second, or while the browser was busy. Such a page stays empty, so it is loaded again: what was done is kept, see below.
  const GIVEN_UP = "Error displaying widget: model not found", LOADS = 5;
  function loadAgain(text) {
    const loads = history.state?.gpuplanLoads ?? 1, given = text.includes(GIVEN_UP);
    if (given ? loads >= LOADS : loads === 1) return;
    history.replaceState({ ...history.state, gpuplanLoads: given ? loads + 1 : 1 }, "");
    if (given) location.reload();
  }
  window.display_cells = window.voila_finish = () => {
    if (window.themeLoaded) reveal();
    else window.cellLoaded = true;
  };
  window.voila_heartbeat = window.voila_process = window.update_loading_text = () => {};

  // --- the design and the place in it (step and tab) in the address bar, for links: the last ones, once nothing has changed for a
  // moment. Browsers drop changes of the address that come too fast, and each keeps them busy while they have a step to draw.
  const PAUSE = 250, AT = "&at=";
  let design = "", place = "", written = 0;
  const addressed = (fragment) => fragment && place ? `${fragment}${AT}${place}` : fragment;
  window.gpuplan.addressed = addressed;
  function writeAddress() {
    clearTimeout(written);
    if (design && location.hash.slice(1) !== addressed(design) && history.state?.gpuplan === mark) history.replaceState(history.state, "", `#${addressed(design)}`);
  }
  window.gpuplan.keepAddress = (fragment) => {
    design = fragment;
    clearTimeout(written);
    written = setTimeout(writeAddress, PAUSE);
  };

  // Each place that was seen is an entry of the history, with the mark of the design's memory: Back returns to the place, and what
  // was done to the design stays. What the session says before it has carried out such a return is of the place that was left.
  function seen(at) {
    if (!at || at === place || events.some(({ type }) => type === "at")) return;
    place = at;
    const entry = { ...history.state, at };
    if (typeof history.state?.at === "string") history.pushState(entry, "");
    else history.replaceState(entry, "");
    window.gpuplan.keepAddress(design);
  }
  function goTo(at) {
    place = at;
    window.gpuplan.post({ type: "at", at }, send);
    writeAddress();  // that of the entry has the design as it was then
  }

  // --- what this tab remembers, so that nothing is lost whenever it is loaded again. Each entry of its history has a mark, which is
  // still there after a reload, and which a link that is followed does not have. Under the mark is what the session has said last of
  // itself, the events that it has not taken yet, and what is being typed; under its id is each design that one of these names. All
  // of it is written when it happens: a tab that is killed has no last moment.
  const ROOM = 1_500_000;  // characters of all designs: a message to a session has room for 2 million, Safari for 2.5
  const held = new Map();  // the designs that are stored: id -> length
  let mark = "", memory = null, entries = [];

  function stored(key) {
    try {
      return JSON.parse(sessionStorage.getItem(`gpuplan:${key}`));
    } catch {
      return null;  // a browser may have no storage, and what is there may be anything
    }
  }
  function store(key, value) {
    const text = JSON.stringify(value);
    do {
      try {
        sessionStorage.setItem(`gpuplan:${key}`, text);
        return true;
      } catch { /* no storage, or it is full */ }
    } while (forgetOldest());
    return false;
  }
  function forget(id) {
    held.delete(id);
    sessionStorage.removeItem(`gpuplan:design:${id}`);
  }
  const needed = (of) => [of?.design, of?.planned, of?.kept].flat(2);
  const undone = (of) => [of?.past, of?.future, of?.estate].flat(2);
  const named = (of) => [...needed(of), ...undone(of)].filter((id) => held.has(id));

  // Makes room: the oldest design that is there for undo only, of other entries first.
  function forgetOldest() {
    const all = [...entries, memory];
    const stays = new Set(all.flatMap(needed));
    const oldest = all.flatMap(undone).find((id) => held.has(id) && !stays.has(id));
    if (oldest !== undefined) forget(oldest);
    return oldest !== undefined;
  }
  function remember(said, designs) {
    memory = said;
    for (const [id, fragment] of Object.entries(designs)) if (store(`design:${id}`, fragment)) held.set(id, fragment.length);
    store(`memory:${mark}`, memory);
    seen(memory.at);
    const wanted = new Set([...entries, memory].flatMap(named));
    for (const id of [...held.keys()]) if (!wanted.has(id)) forget(id);
    while ([...held.values()].reduce((sum, length) => sum + length, 0) > ROOM && forgetOldest());
  }

  const newMark = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 8);
  function enter(fresh) {
    mark = typeof history.state?.gpuplan === "string" ? history.state.gpuplan : fresh;
    history.replaceState({ ...history.state, gpuplan: mark }, "");
    store("mark", mark);
  }
  // Chromium loses the mark when a tab has crashed, or its address changes while it is loaded again: then it is that of the last entry.
  // Left for another server or to sign in, it goes on here, see goElsewhere and gpuplan-leave.js; a form there has lost the address.
  const again = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const left = stored("left");
  store("left", null);
  if (!location.hash && left?.address?.startsWith?.("#")) history.replaceState(history.state, "", left.address);
  const marks = [again && stored("mark"), left?.address === location.hash && left.mark];
  enter(marks.find((each) => typeof each === "string") ?? newMark());
  memory = stored(`memory:${mark}`);
  try {
    for (const key of Object.keys(sessionStorage)) {
      const [, kind, name] = key.split(":");
      if (kind === "design") held.set(name, sessionStorage.getItem(key).length);
      if (kind === "memory" && name !== mark) entries.push(stored(`memory:${name}`));
    }
  } catch { /* as above */ }

  // Another entry of the history without a load: one with the mark of this design is a place in it, one with another mark has a
  // memory of its own, a link that was put into the address has none.
  function arrived() {
    const { gpuplan: entry, at } = history.state ?? {};
    const [carried, asked] = location.hash.slice(1).split(AT);
    if (entry === mark) {
      if (line && typeof at === "string" && at !== place) goTo(at);
      return;
    }
    const link = carried.startsWith("s=") && carried !== design ? location.hash : "";
    if (entry || (link && !line)) return location.reload();
    if (!link) {
      enter(mark);
      history.replaceState({ ...history.state, at: asked ?? place }, "");
      return arrived();
    }
    entries.push(memory);
    enter(newMark());
    place = "";
    store(`memory:${mark}`, memory);
    window.gpuplan.post({ type: "restore", fragment: link }, send);
  }
  addEventListener("popstate", arrived);
  addEventListener("hashchange", arrived);

  // --- what was done on the page: each event has a number and is kept until the session has said that it has it. The session
  // takes them in their order and each once, so what is kept can be sent again whenever the connection was lost, and to the next
  // session when the page is loaded again, but for what only starts something.
  const PASSING = ["resume", "theme", "save", "deliver", "simulate", "explore", "sensitivity", "audit", "replay"];
  // Of several steps, tabs or places that are entered while the session is still at one, it is sent the last, once it is there.
  const MOVES = ["go", "tab", "at"];
  let events = [], next = null, number = 0, owed = 0, settled = false, line, send;
  const tell = () => { root.dataset.state = settled && !owed ? "idle" : "busy"; };
  const keepEvents = () => store(`events:${mark}`, [...events, ...(next ? [next.event] : [])].filter(({ type }) => !PASSING.includes(type)));
  const moves = (event) => MOVES.includes(event.type);
  function put(event, deliver) {
    const numbered = { ...event, number: ++number };
    events.push(numbered);
    settled = false;
    tell();
    keepEvents();
    if (line.connectionStatus === "connected") deliver(numbered);
  }
  function moveOn() {
    const last = next;
    next = null;
    if (last) put(last.event, last.deliver);
  }
  window.gpuplan.post = (event, deliver) => {
    if (!line) return deliver(event);  // a notebook with parts of the workbook only
    if (next && (event.type !== next.event.type || (event.type === "tab" && event.step !== next.event.step))) moveOn();
    if (!moves(event) || !events.some(moves) || line.connectionStatus !== "connected") return put(event, deliver);
    next = { event, deliver };
    keepEvents();
  };
  window.gpuplan.typed = (path, value) => { if (line) store(`typing:${mark}`, path ? { path, value } : null); };
  window.gpuplan.heard = (taken, said, designs) => {
    events = events.filter((event) => event.number > taken);
    if (!events.some(moves)) moveOn();
    if (said) remember(said, designs);
    keepEvents();
  };

  // What the page shows, once it is drawn, and whether all that was done on it is carried out: see bar.js.
  window.gpuplan.declare = (shown) => {
    Object.assign(root.dataset, shown);
    settled = !events.length;
    tell();
  };
  // What was typed will be sent in a moment, or no longer will.
  window.gpuplan.owe = (more) => { owed += more; tell(); };

  // The workbook's connection to its session, and how to send through it. A new session is told first what this tab remembers.
  window.gpuplan.join = (connection, deliver) => {
    [line, send] = [connection, deliver];
    line.connectionStatusChanged.connect((_, status) => {
      if (status === "connected") {
        send({ type: "again", held: [...held.keys()] });
        events.forEach(send);
        if (rejoining) here();
      } else poll();
    });
    const designs = Object.fromEntries(named(memory).map((id) => [id, stored(`design:${id}`)]));
    const before = stored(`events:${mark}`), typing = stored(`typing:${mark}`), address = location.hash;
    // what two sessions did not take is not given to a third: it may be what ended them
    const pending = (Array.isArray(before) ? before : []).filter((event) => typeof event?.type === "string" && !(event.tried > 1))
      .map((event) => ({ ...event, tried: (event.tried ?? 0) + 1 }));
    if (!memory?.started && !pending.length && address.startsWith("#s=")) pending.push({ type: "restore", fragment: address });
    place = typeof history.state?.at === "string" ? history.state.at : "";
    if (memory?.started && place && place !== memory.at) pending.push({ type: "at", at: place });
    if (typing) pending.push({ type: "set", path: typing.path, value: typing.value, live: false });
    events = [{ type: "resume", memory, designs, address }, ...pending].map((event) => ({ ...event, number: ++number }));
    keepEvents();
    window.gpuplan.typed();
    if (line.connectionStatus === "connected") events.forEach(send);
  };

  // --- session: is this page's own kernel process still alive? The first answer also brings the XSRF cookie.
  const INTERVAL = 5000, CHECK = 2500, RETRY = 1000, PATIENCE = 6000, REJOIN = 20000;
  let failures = 0, ended = false, leaving = false, timer = 0;
  let away = false, rejoining = 0, unheard = 0, since = 0, focused = null;
  let url = "", base = "", kernel = "", others = [];
  const xsrf = () => document.cookie.match(/(?:^|;\s*)_xsrf=([^;]*)/)?.[1] ?? "";

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
    rejoining = unheard = 0;
    document.getElementById("rendered_cells").inert = false;
    document.getElementById("gpuplan-away").hidden = true;
    if (focused?.isConnected) focused.focus({ preventScroll: true });
    focused = null;
  }

  // The server answers. A new connection to the session, if the one before was cut, or is dead without knowing it: then the
  // session has nothing to do and yet does not take what was sent.
  function rejoin(busy) {
    const first = busy ? 0 : events[0]?.number ?? 0;
    if (first !== unheard) [unheard, since] = [first, Date.now()];
    const stuck = first > 0 && Date.now() - since >= CHECK;
    if (line?.status === "dead" || (rejoining && !busy && Date.now() - rejoining > REJOIN)) end("The connection to this session was lost.");
    else if (away && !line) here();
    else if (line && !rejoining && (away || stuck)) {
      rejoining = Date.now();
      line.reconnect().catch(() => {});  // it is asked again below, and gives up in time
    }
  }

  // The server is gone, and not only slow or out of reach, and another one answers: the page goes on there with its design.
  async function goElsewhere() {
    const answers = async (path) => {
      const signal = AbortSignal.timeout(PATIENCE);
      return (await fetch(`${path}voila/templates/gpuplan/static/health.txt`, { cache: "no-store", signal }).catch(() => null))?.ok;
    };
    if (!others.length || (await answers(base))) return;
    for (const other of others) {
      if (leaving || !(await answers(other))) continue;
      writeAddress();
      store("left", { mark, address: location.hash });
      leaving = true;  // asked for twice, it would begin anew
      location.assign(other + location.search + location.hash);
      return;
    }
  }

  async function poll() {
    clearTimeout(timer);
    if (ended || leaving || !url) return;
    try {
      const headers = { "X-XSRFToken": xsrf() };
      const answer = await fetch(url, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
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
      if (failures >= 2 && !leaving && !ended) {
        leave();
        await goElsewhere();
      }
    }
    clearTimeout(timer);
    if (!leaving && !ended) timer = setTimeout(poll, failures || away ? RETRY : unheard ? CHECK : INTERVAL);
  }

  window.gpuplan.watch = () => {
    const config = JSON.parse(document.getElementById("jupyter-config-data").textContent);
    base = config.baseUrl;
    kernel = config.kernelId;
    others = config.gpuplanOthers.filter((path) => path !== base);
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
    writeAddress();
    if (!kernel) return;
    const form = new FormData();
    form.append("_xsrf", xsrf());
    navigator.sendBeacon(`${base}voila/api/shutdown/${kernel}`, form);
  });
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return; // back from the browser's cache: the kernel is gone, say so
    leaving = false;
    poll();
  });
})();
