// Shared by every part: elements made from plain data, and drawing that keeps the keyboard focus.

// A long run without a space may break in its middle, so that no name is wider than what it stands in.
const LONG = /\S{20,}/, SIGNS_OF = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function breakable(text) {
  if (typeof text !== "string" || !LONG.test(text)) return text;
  return text.split(/(\S{20,})/).flatMap((part, at) => at % 2
    ? [...SIGNS_OF.segment(part)].flatMap(({ segment }, n) => n && n % 8 === 0 ? [document.createElement("wbr"), segment] : [segment])
    : [part]);
}

// In what is read as a sentence a number stays with what it counts, and with its currency.
const SENTENCES = new Set(["p", "h1", "dd", "cite"]);
const together = (text) => typeof text === "string" ? text.replace(/(\d) (?=[%\p{L}])/gu, "$1\u00a0").replace(/\b([A-Z]{3}) (?=\d)/g, "$1\u00a0") : text;

function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) listen(node, name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(...(tag === "option" ? [child] : [breakable(SENTENCES.has(tag) ? together(child) : child)].flat()));
  }
  return node;
}

// What an element does may change while it stays on the page.
function listen(node, type, act) {
  (node.acts ??= {})[type] = act;
  node.addEventListener(type, (event) => node.acts[type](event));
}

// The same for drawings.
function svg(tag, props, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props ?? {})) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

// Whether an element can become another one: what can be pressed or opened stays what it was.
const alike = (old, node) => old.nodeName === node.nodeName && old.type === node.type && old.dataset?.at === node.dataset?.at
  && old.dataset?.keep === node.dataset?.keep && Object.keys(old.acts ?? {}).join() === Object.keys(node.acts ?? {}).join();

function become(old, node) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== node.data) old.data = node.data;
    return;
  }
  if (old.role === "combobox" && choicesOf(old)) {
    old.acts = node.acts;  // it is being searched
    return;
  }
  for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!node.hasAttribute(name) && !(name === "open" && old.dataset.keep)) old.removeAttribute(name);
  old.acts = node.acts;
  if (old.named) return old.named();  // see slot()
  fill(old, [...node.childNodes]);
  if (["radio", "checkbox"].includes(old.type)) old.checked = node.checked;
  else if (old.matches("input, select, textarea") && old.value !== node.value) old.value = node.value;
}

// Gives an element new content. What is there is changed where it differs, and stays where it is: the browser has less to lay
// out and to paint, and does not look through all inputs for what it could fill in.
function fill(el, nodes) {
  const there = [...el.childNodes];
  nodes.forEach((node, at) => {
    if (!there[at]) el.append(node);
    else if (alike(there[at], node)) become(there[at], node);
    else there[at].replaceWith(node);
  });
  for (const old of there.slice(nodes.length)) old.remove();
}

// Puts new content into an element; what had the focus gets it back by its data-at, or else what its data-else names, or
// else what is marked data-near.
function redraw(el, content) {
  const active = el.contains(document.activeElement) ? document.activeElement : null;
  const find = (at) => (at ? el.querySelector(`[data-at="${CSS.escape(at)}"]`) : null);
  const fresh = document.createDocumentFragment();
  fresh.append(...[content].flat(Infinity).filter(Boolean));
  fill(el, [...fresh.childNodes]);
  for (const node of el.querySelectorAll(".gp-input:empty")) node.place?.();
  if (!active || document.activeElement === active) return;
  const { at, else: other } = active.dataset;
  (find(at) ?? find(other) ?? el.querySelector("[data-near]"))?.focus({ preventScroll: true });
}

// Sends events to the session; the page around the workbook keeps each until the session has said that it has it.
const sender = (model) => (type, rest) => {
  const event = { type, ...rest };
  if (window.gpuplan?.post) window.gpuplan.post(event, (numbered) => model.send(numbered));
  else model.send(event);
};

// The page remembers what is being typed until it is entered; without arguments, that it is.
const typed = (path, value) => window.gpuplan?.typed?.(path, value);

// Does something in a moment, once for all that ask for it until then; the page is busy until it is done or called off (see bar.js).
function soon(act) {
  let timer;
  const off = () => {
    if (timer) window.gpuplan?.owe?.(-1);
    clearTimeout(timer);
    timer = undefined;
  };
  const ask = () => {
    off();
    window.gpuplan?.owe?.(1);
    timer = setTimeout(() => { act(); off(); }, 15);
  };
  return { ask, off, waits: () => Boolean(timer) };
}

// A menu or a slider of ipywidgets. It stays in its place while its part is drawn again. What is chosen goes to the session as an event of the page, which is
// counted, kept and sent again: `take` gets the number that is chosen, and what the event says of the widget; `settle` when a slider is let go.
function slot(model, s, { key, name, words, ...props }, take, settle) {
  const node = h("span", { ...props, class: `gp-input ${props.class ?? ""}`, "data-keep": s.input, "data-name": name, "data-words": words, ontake: take, onsettle: settle });
  node.place = async () => {
    node.place = undefined;
    const widget = await model.widget_manager.get_model(node.dataset.keep), view = await model.widget_manager.create_view(widget), slider = view.$slider;
    const input = view.el.querySelector(slider ? "[role=slider]" : "select"), chosen = () => slider ? slider.noUiSlider.get() : widget.get("index");
    let given = 0;
    const give = () => { given = performance.now(); node.acts.take(chosen(), { input: node.dataset.keep, held: chosen() }); };
    const later = soon(give);
    input.dataset.at = key;
    widget.save_changes = () => slider || give();
    node.named = () => slider && Object.assign(input, { ariaLabel: node.dataset.name, ariaValueText: node.dataset.words });
    // While it is dragged, what would not be drawn any more waits for what follows; so does what will be settled at once.
    slider?.noUiSlider.on("slide", () => { later.off(); if (node.acts.settle || performance.now() - given < 50) later.ask(); else give(); });
    slider?.noUiSlider.on("change", () => { if (node.acts.settle) { later.off(); node.acts.settle(chosen()); } });
    slider?.noUiSlider.on("update", node.named);
    node.append(view.el);
    node.named();
  };
  return node;
}
// For a part that keeps its nodes by itself: the one that is there, brought up to date.
function kept(old, node) {
  if (!old || !alike(old, node)) {
    node.place();
    return node;
  }
  become(old, node);
  return old;
}

// The last designs of this browser and their versions, newest first; a browser may have no storage, and what is there may be
// anything. For those beyond MOST_RECENT, or beyond the room that the browser has, only what is said of them stays.
const RECENT = "gpuplan-recent", MOST_RECENT = 30, MOST_NAMED = 100;
const OF_DESIGN = ["name", "day", "fragment", "design", "customer", "version", "hosts", "gpus", "model", "cost", "state", "tone"];
const designsIn = (kept) => kept.filter((each) => ["name", "day", "fragment"].every((key) => typeof each?.[key] === "string") && /^(s=|$)/.test(each.fragment))
  .map((each) => Object.fromEntries(OF_DESIGN.map((key) => [key, String(each[key] ?? "").slice(0, key === "fragment" ? undefined : 200)])));
function recentDesigns() {
  try {
    return designsIn(JSON.parse(localStorage.getItem(RECENT)));
  } catch {
    return [];
  }
}
function storeDesigns(all) {
  for (let room = MOST_RECENT; room > 0; room -= 1) {
    try {
      if (all.length) localStorage.setItem(RECENT, JSON.stringify(all.slice(0, MOST_NAMED).map((each, at) => at < room ? each : { ...each, fragment: "" })));
      else localStorage.removeItem(RECENT);
      return true;
    } catch { /* no storage, or it is full: the address bar has the design all the same */ }
  }
  return false;
}
// A design takes the place of what this page has kept of it before, or of an equal one: never of another design, of what another page
// made of it, or of a version that was named; that stays as it is.
const keptHere = new Map();
function keepDesign(entry) {
  const all = recentDesigns(), before = keptHere.get(entry.design);
  const named = entry.version ? undefined : all.find((each) => each.version && each.fragment === entry.fragment && each.design === entry.design);
  const stays = (each) => each !== named && (each.version || (each.fragment !== entry.fragment && (each.design !== entry.design || each.fragment !== before)));
  const day = new Date().toLocaleString("sv").slice(0, 16);  // 2026-11-21 09:30, of this place
  if (storeDesigns([named ?? { ...entry, day }, ...all.filter(stays)])) keptHere.set(entry.design, entry.fragment);
}
const sameDesign = (one) => (other) => ["fragment", "design", "version", "name"].every((key) => one[key] === other[key]);

// Saves a file that the page has made.
function download(name, content) {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A name for the radio buttons of this view alone: those with one name are one choice on the whole page.
function ownName(model, name) {
  return (model.names ??= {})[name] ??= `${name}-${Math.random().toString(36).slice(2)}`;
}

// Draws again on every change of the data.
function drawn(view, after) {
  return {
    render({ model, el }) {
      const send = sender(model);
      const draw = () => {
        redraw(el, view(model.get("data"), send, model));
        after?.(el, model, send);
      };
      model.draw = draw;
      model.on("change:data", draw);
      draw();
      return () => model.off("change:data", draw);
    },
  };
}

// Makes what can be pressed in an element one stop of the Tab key, as in a toolbar: arrow keys go on from there. With `press` what
// is reached is pressed, too. Begins at what is chosen, or at what had the focus last.
function roving(el, press = false) {
  if (!el) return;
  const items = () => [...el.querySelectorAll("button:not([hidden]), input:not([type=file])")].filter((each) => !each.disabled);
  const stop = (at) => items().forEach((each) => { each.tabIndex = each === at ? 0 : -1; });
  const chosen = el.querySelector("[aria-selected=true], [aria-current]");
  stop(el.contains(document.activeElement) ? document.activeElement : chosen ?? items().find((each) => each === el.last) ?? items()[0]);
  if (el.roves) return;
  el.roves = true;  // not by listen(): as one that nobody listens to it stays when it is drawn again, and what is being pressed in it
  el.addEventListener("focusin", ({ target }) => { el.last = target; stop(target); });
  el.addEventListener("keydown", (event) => {
    const all = items(), at = all.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = all[(to + all.length) % all.length];
    next.focus();
    if (press) next.click();
  });
}

// For drawn(): what was opened stays open when it is drawn again.
function keepOpen(el, model) {
  model.opened ??= new Set();
  for (const node of el.querySelectorAll("details")) {
    node.open = model.opened.has(node.dataset.keep);
    node.ontoggle = () => model.opened[node.open ? "add" : "delete"](node.dataset.keep);
  }
}

// A choice from a long list: a field that shows what is chosen, and while somebody types in it the options that have these words. What it
// offers is in its acts, so that it stays the same field when it is drawn again. One list serves all of the page.
const choicesOf = (input) => document.getElementById("gp-choices")?.of === input ? document.getElementById("gp-choices") : null;
function combobox(props, choices) {
  const typing = ({ target }) => { target.dataset.typing = "1"; showChoices(target, target.value); };
  return h("input", { type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-expanded": "false", ...props,
    onchoices: choices, oninput: typing, onclick: ({ target }) => { if (!choicesOf(target)) showChoices(target); },
    onfocus: ({ target }) => target.select(), onblur: ({ target }) => hideChoices(target), onkeydown: (event) => {
      const input = event.target, list = choicesOf(input), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        if (list) markChoice(input, step);
        else if (!input.readOnly) showChoices(input);
      } else if (event.key === "Enter") {
        event.preventDefault();
        if (list) choose(input, list.querySelector(".gp-at"));
        else if (!input.readOnly) showChoices(input);
      } else if (event.key === "Tab" && list?.children.length === 1) choose(input, list.firstChild);  // what was typed names it
      else if (event.key === "Escape" && list) {
        event.stopPropagation();
        hideChoices(input);
      }
    } });
}
const chosenText = ({ options, value }) => options.find((o) => o.value === value)?.text ?? "";
function choose(input, at) {
  if (!at || at.ariaDisabled === "true") return;
  const { value, take } = input.acts.choices();
  hideChoices(input);
  if (at.dataset.value === value) return;
  input.value = at.dataset.text;
  take(at.dataset.value);
}
function hideChoices(input) {
  const list = choicesOf(input);
  delete input.dataset.typing;
  if (!list) return;
  list.hidePopover?.();
  list.of = null;
  list.replaceChildren();
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
  input.value = chosenText(input.acts.choices());
}
function showChoices(input, words = "") {
  const { options, value, label } = input.acts.choices(), wanted = plain(words).split(" ").filter(Boolean);
  const list = document.getElementById("gp-choices") ?? h("ul", { id: "gp-choices", role: "listbox", popover: "manual" });
  if (list.of && list.of !== input) hideChoices(list.of);
  const app = input.closest(".gp-app") ?? document.body, found = options.filter((o) => wanted.every((word) => plain(`${o.text} ${o.why ?? ""}`).includes(word)));
  if (list.parentNode !== app) app.append(list);
  list.of = input;
  list.setAttribute("aria-label", label);
  list.replaceChildren(...found.map((o, at) => h("li", { role: "option", id: `gp-choice-${at}`, class: o.why ? "gp-unfit" : undefined, "data-value": o.value, "data-text": o.text,
    "aria-selected": String(o.value === value), "aria-disabled": o.off ? "true" : undefined, onpointerdown: (event) => event.preventDefault(), onclick: ({ currentTarget }) => choose(input, currentTarget) },
    o.text || "\u2013", o.why ? h("small", {}, o.why) : null)), ...(found.length ? [] : [h("li", { class: "gp-unfit", role: "option", "aria-disabled": "true" }, "No match")]));
  const { left, bottom, top, width } = input.getBoundingClientRect(), below = innerHeight - bottom > 260 || bottom < innerHeight / 2;
  Object.assign(list.style, { left: `${Math.max(8, Math.min(left, innerWidth - Math.max(width, 320) - 8))}px`, minWidth: `${width}px`,
    top: below ? `${bottom + 2}px` : "auto", bottom: below ? "auto" : `${innerHeight - top + 2}px`, maxHeight: `${Math.min(360, (below ? innerHeight - bottom : top) - 12)}px` });
  list.showPopover?.();
  if (!words) input.select();  // what is typed takes its place
  input.setAttribute("aria-expanded", "true");
  input.setAttribute("aria-controls", list.id);
  markChoice(input, 0);
}
// Moves the mark in the list by some options; at first it is at what is chosen, or else at the first that can be.
function markChoice(input, by) {
  const list = choicesOf(input), all = [...list.children], before = all.findIndex((each) => each.classList.contains("gp-at"));
  const first = Math.max(0, all.findIndex((each) => each.ariaSelected === "true"));
  const at = before < 0 ? first : (before + by + all.length) % all.length;
  all.forEach((each, n) => each.classList.toggle("gp-at", n === at));
  input.setAttribute("aria-activedescendant", all[at].id);
  all[at].scrollIntoView({ block: "nearest" });
}
// A choice: of few options the browser's own, of many a field to search them in.
const selectOf = (props, options, value, take) => options.length > MOST
  ? combobox({ ...props, value: chosenText({ options, value }) }, () => ({ options, value, take, label: props["aria-label"] }))
  : h("select", { ...props, onchange: ({ target }) => take(target.value) }, options.map((o) => optionOf(o, value)));
const optionOf = (o, value) => h("option", { value: o.value, selected: o.value === value, disabled: o.off }, o.why ? `${o.text} (${o.why})` : o.text);

// How an input is known where that is worth a mark: a click on the dot of what is assumed says that the customer confirmed it; "confirmed" opens who did, and
// when, and the way back.
function confirmation(field, send, known) {
  const by = h("input", { type: "text", maxlength: 80, placeholder: "Who", "aria-label": `Who confirmed ${field.label}`, autocomplete: "off" });
  const tell = (yes) => { send("confirm", { path: field.path, yes, by: yes ? by.value : "" }); open(false); mark.focus(); };
  const node = h("div", { class: "gp-confirm", hidden: true, onkeydown: (event) => {
    if (event.key === "Escape") open(false);
    if (event.key !== "Enter" || event.target !== by) return;
    event.preventDefault();  // or it would press what has the focus now
    tell(true);
  } }, by, h("button", { type: "button", class: "gp-primary", onclick: () => tell(true) }, "Save"),
    h("button", { type: "button", "data-at": `doubt-${field.path}`, onclick: () => tell(false) }, "Mark as assumed"));
  let assumed;
  const mark = h("button", { type: "button", "data-at": `known-${field.path}`, onclick: () => assumed ? tell(true) : open(node.hidden) });
  function open(there) {
    node.hidden = !there;
    if (!assumed) mark.setAttribute("aria-expanded", String(there));
    if (there) by.focus();
    else if (node.contains(document.activeElement)) mark.focus();
  }
  return { node, update(next) {
    const word = next.assumed ? "assumed" : next.confirmed ? "confirmed" : "";
    assumed = next.assumed;
    if (!next.confirmed) open(false);
    if (!word) mark.remove();
    else if (mark.parentNode !== known) known.append(mark);
    known.classList.toggle("gp-confirmed", Boolean(next.confirmed));
    if (assumed) mark.removeAttribute("aria-expanded");
    else mark.setAttribute("aria-expanded", String(!node.hidden));
    mark.replaceChildren(...(assumed ? [h("i", { class: "gp-dot" }), h("span", { class: "gp-hidden" }, word)] : [word]));
    mark.title = assumed ? `${next.known ? `${next.known}; ` : ""}click when the customer has confirmed it` : next.known;
    mark.setAttribute("aria-label", `${next.label}: ${word}. ${assumed ? "Confirm it" : "Who confirmed it, and when"}`);
    by.value = next.by ?? "";
  } };
}

// One input with its label, unit, question and problem. update() leaves what is being typed alone.
function control(field, send, compact) {
  const id = `gp-${field.path.replaceAll(".", "-")}-${Math.random().toString(36).slice(2, 7)}`;
  const change = (value, live) => send("set", { path: field.path, value, live });
  let given = -Infinity;
  let input;
  const give = () => { given = performance.now(); change(input.value, true); };
  const later = soon(give), searched = field.kind === "select" && field.options.length > MOST;
  let shown;
  if (searched) {
    input = combobox({ id }, () => ({ ...shown, take: (value) => change(value, false) }));
  } else if (field.kind === "checkbox") {
    input = h("input", { type: "checkbox", id, onchange: () => change(input.checked, false) });
  } else if (field.kind === "select") {
    input = h("select", { id, onchange: () => change(input.value, false) });
  } else {
    const area = field.kind === "area";
    input = h(area ? "textarea" : "input", {
      type: area ? undefined : "text", inputmode: field.kind === "number" ? "decimal" : undefined, class: field.kind === "number" ? "gp-digits" : undefined, rows: area ? 4 : undefined, id, autocomplete: "off", spellcheck: "false",
      oninput: () => {
        typed(field.path, input.value);
        later.off();
        if (!input.value.trim()) return;
        // The first of a run goes at once; those that follow quickly wait for the last of them.
        if (performance.now() - given > 150) give();
        else later.ask();
      },
      onchange: () => { change(input.value, false); later.off(); typed(); },
    });
  }
  input.dataset.at = field.path;
  const problem = h("p", { class: "gp-problem", id: `${id}-problem`, role: "alert" });
  const known = h("span", { class: "gp-assumed" });
  const confirm = confirmation(field, send, known);
  const label = h("label", { for: id }, field.label);
  const ask = field.question && !compact
    ? h("button", { class: "gp-ask", type: "button", "aria-label": `Why we ask: ${field.label}`, "aria-expanded": "false",
        onclick: () => { question.hidden = !question.hidden; ask.setAttribute("aria-expanded", String(!question.hidden)); } }, "?")
    : null;
  const question = h("p", { class: "gp-question", hidden: true }, field.question);
  const update = (next) => {
    if (shown === undefined || JSON.stringify(shown) !== JSON.stringify(next)) {
      if (searched) {
        if (!choicesOf(input)) input.value = chosenText(next);
      } else if (next.kind === "select" && JSON.stringify(shown?.options) !== JSON.stringify(next.options)) {
        input.replaceChildren(...next.options.map((o) => optionOf(o)));
      }
      if (next.kind === "checkbox") input.checked = next.value;
      else if (!searched && (document.activeElement !== input || next.kind === "select" || !input.dataset.typing)) {
        if (input.value !== next.value) input.value = next.value;
      }
      if (compact) input.setAttribute("aria-label", `${next.label}${compact ? ", " + compact : ""}`);
      input.setAttribute("aria-invalid", String(Boolean(next.problem)));
      input.placeholder = next.empty ?? "";
      if (next.problem || next.doubt) input.setAttribute("aria-describedby", `${id}-problem`);
      else input.removeAttribute("aria-describedby");
      input.readOnly = Boolean(next.locked);
      input.title = next.locked;
      problem.textContent = next.problem ? `${next.problem}.` : next.doubt ?? "";
      problem.hidden = !problem.textContent;
      problem.classList.toggle("gp-doubt", !next.problem);
      confirm.update(next);
      shown = next;
    }
  };
  if (!searched && ["text", "textarea"].includes(input.type)) {
    // What cannot be changed says why when somebody tries.
    input.addEventListener("keydown", (event) => {
      if (input.readOnly && (event.key.length === 1 || event.key === "Backspace") && !event.ctrlKey && !event.metaKey) {
        problem.textContent = shown.locked;
        problem.hidden = false;
      }
    });
    let before;  // what the field showed when typing into it began
    input.addEventListener("input", () => {
      if (!input.dataset.typing) before = shown.value;
      input.dataset.typing = "1";
    });
    input.addEventListener("blur", () => {
      delete input.dataset.typing;
      if (later.waits()) {
        give();
        later.off();
      } else if (shown && !shown.problem && input.value !== shown.value) input.value = shown.value;
      typed();
    });
    input.addEventListener("change", () => { delete input.dataset.typing; });
    if (field.kind === "number") input.addEventListener("keydown", (event) => {
      // Up and down count, as in any field for a number.
      const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const count = input.value.replace(/[\s.,'\u2019]/g, "");  // without the signs of thousands
      if (!by || input.readOnly || !/^\d{1,15}$/.test(count)) return;
      event.preventDefault();
      input.value = String(Math.min(Math.max(Number(count) + by, field.low), field.high));
      input.dispatchEvent(new Event("input"));
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !input.dataset.typing) return;
      event.stopPropagation();
      later.off();
      input.value = before;
      delete input.dataset.typing;
      typed();
      send("untype", { path: field.path });
    });
  }
  const unit = field.unit ? h("span", { class: "gp-unit" }, field.unit) : null;
  // A form of its own: browsers look through all inputs of a form for what they could fill in, at every key.
  const onsubmit = (event) => event.preventDefault();
  const node = compact
    ? h("form", { class: "gp-cell", onsubmit }, input)
    : field.kind === "checkbox"
      ? h("form", { class: "gp-field gp-check", onsubmit }, h("div", { class: "gp-line" }, input, label, known, ask), confirm.node, question, problem)
      : h("form", { class: "gp-field", onsubmit }, h("div", { class: "gp-line" }, label, known, ask), confirm.node,
          h("div", { class: "gp-line" }, input, unit), question, problem);
  update(field);
  return { node, update, input, problem };
}

// Fields that stay while their data changes, so that typing is never interrupted; each call gives what stands on each shelf.
function keptFields(send) {
  const fields = new Map();
  return (...shelves) => {
    const alive = new Set(shelves.flatMap(([, all]) => all.map((f) => f.path)));
    for (const [path, field] of fields) if (!alive.has(path)) { field.node.remove(); fields.delete(path); }
    for (const [shelf, all] of shelves) all.forEach((field, at) => {
      if (!fields.has(field.path)) fields.set(field.path, control(field, send));
      const kept = fields.get(field.path);
      kept.update(field);
      if (shelf.children[at] !== kept.node) shelf.insertBefore(kept.node, shelf.children[at] ?? null);
    });
  };
}

// The stated total beside what the groups need, with a way to take either.
const statedTotal = (stated, send) => stated && h("p", { class: `gp-total${stated.tone ? " gp-stated" : ""}` }, stated.text, stated.ways.map((way) => [" ",
  h("button", { type: "button", class: "gp-link", "data-at": way.at, onclick: () => send("set", { path: way.path, value: way.value, live: false }) }, way.text)]));

// A menu by which a view is chosen.
const menu = (s, send, model, key = `look-${s.what}`) => s.input
  ? slot(model, s, { class: "gp-look", key }, (at, held) => send("look", { what: s.what, value: s.options[at].value, ...held }))
  : h("label", { class: "gp-look" }, s.label, selectOf({ "data-at": key }, s.options, s.value, (value) => send("look", { what: s.what, value })));

const chip = (letter, colour) => h("span", { class: `gp-chip gp-c${colour}`, "aria-hidden": "true" }, letter);

// What holds an input that is wrong: marked over its corner, so that nothing moves. The problem is said at the input.
const wrongMark = (word) => word ? h("em", { class: "gp-wrong", title: word }, h("span", { "aria-hidden": "true" }, "!"), h("span", { class: "gp-hidden" }, ` ${word}`)) : null;

// A sign and a word, whatever the colour.
const mark = (m) => h("span", { class: `gp-mark-word gp-${m.tone}` }, h("b", { "aria-hidden": "true" }, m.sign), ` ${m.text}`);

// How well a number is known.
const basisTag = (basis) => h("b", { class: `gp-tag gp-${basis}` }, basis);

// A share from 0 to 1 as a bar from its low to its high end with a line at the typical value.
function rangeBar(range) {
  const at = (share) => `${100 * share}%`;
  return svg("svg", { class: "gp-range", role: "img", "aria-label": range.words },
    svg("rect", { class: "gp-range-all", x: 0, y: 4, width: "100%", height: 6, rx: 3 }),
    svg("rect", { class: "gp-range-part", x: at(range.low), y: 4, width: at(range.high - range.low), height: 6, rx: 3 }),
    range.marks.map((share) => svg("line", { class: "gp-range-mark", x1: at(share), x2: at(share), y1: 1, y2: 13 })),
    svg("line", { class: "gp-range-line", x1: at(range.typical), x2: at(range.typical), y1: 0, y2: 14 }));
}

// A choice in a cell of a table.
const cellSelect = (field, send) => h("span", { class: "gp-cell" }, selectOf({ "aria-label": field.label, title: field.question, "data-at": field.path,
  "aria-invalid": field.problem ? "true" : undefined }, field.options, field.value, (value) => send("set", { path: field.path, value, live: false })));

// Where a figure comes from, behind a small button: it closes with Escape, and once something else has the focus.
const cites = (texts, name) => h("details", { class: "gp-cites", name: "gp-cites", "data-keep": `cites-${name}`,
  onkeydown: (event) => { if (event.key === "Escape") { event.currentTarget.open = false; event.stopPropagation(); } },
  onfocusout: (event) => { if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.open = false; } },
  h("summary", { "data-at": `cites-${name}`, title: "Sources", "aria-label": `Sources: ${name}` }, "i"), h("ul", { tabindex: -1 }, texts.map((text) => h("li", {}, text))));

// What a cell of a table holds; a number with a key opens its trail.
const cellContent = (c, row, send) => [
  c.chip ? chip(...c.chip) : null,
  c.key ? h("button", { type: "button", class: "gp-why", "data-at": c.key, "aria-label": `Why ${c.text}, ${row[0].text}?`, onclick: () => send("why", { key: c.key }) }, c.text) : c.text,
  c.range ? [" ", h("small", { class: "gp-range-text" }, c.range.text), rangeBar(c.range)] : null,
  c.mark ? mark(c.mark) : null, c.basis ? basisTag(c.basis) : null, c.field ? cellSelect(c.field, send) : null,
  c.visit ? h("button", { type: "button", class: "gp-link", "data-at": `visit-${c.visit}-${row[1].text}`, onclick: () => send("visit", { path: c.visit }) }, c.visit_text) : null,
  c.tag ? [" ", h("b", { class: `gp-tag gp-${c.tag_tone ?? "derived"}` }, c.tag)] : null,
  c.note ? [" ", h("small", { class: c.note_tone ? `gp-note-${c.note_tone}` : "" }, c.note)] : null,
  c.cites?.length ? cites(c.cites, row[0].text) : null,
  (c.acts ?? []).map((a) => [" ", h("button", { type: "button", class: "gp-link gp-act", "data-at": `${a.event}-${Object.values(a.rest)}`, "aria-label": `${a.text}: ${a.name}`,
    onclick: () => send(a.event, a.rest) }, a.text)])];
const SHORT = 15;  // signs of a text that stays on one line
const cellStyle = (c) => [c.numeric ? "n" : "", c.text?.length <= SHORT ? "gp-nowrap" : "", c.range ? "gp-ranged" : "", c.tone ? `gp-${c.tone}` : ""].filter(Boolean).join(" ");

// Lists of more rows than MOST are searched, sorted and turned page by page; paper has all rows.
const MOST = 12;
const page = () => Math.max(14, Math.floor((innerHeight - 400) / 32));  // more where the window has room
const BY_NAME = new Intl.Collator(undefined, { numeric: true });
const nothing = (value) => value === undefined || value === null || value === "" || value === "\u2013";
function compared(one, other) {
  if (nothing(one) || nothing(other)) return { order: nothing(one) - nothing(other), last: true };
  const numbers = typeof one === "number" && typeof other === "number";
  return { order: numbers ? one - other : BY_NAME.compare(one, other), last: false };
}
const plain = (text) => text.toLowerCase().replace(/\s/g, " ");

// A long list as it is looked at: its rows in their order, each with the class that hides it on the screen ("" if it is on the
// page), and what it is searched and turned with. `words` gives the text of a row, `value` what it is sorted by in a column; `still`
// keeps the order as it is, while something in the list is typed. The part draws itself again with model.draw().
function long(model, key, name, rows, words, { value, still = false } = {}) {
  if (rows.length <= MOST) return { rows: rows.map((row) => ({ row, off: "" })), tools: null, head: null, reveal: null };
  const look = ((model.looks ??= {})[key] ??= { search: "", page: 0, column: null, down: false, order: [] });
  const at = rows.map((_, n) => n);
  const column = look.column;
  if (value && column !== null && !(still && look.order.length === rows.length)) {
    look.order = at.toSorted((one, other) => {
      const { order, last } = compared(value(rows[one], column), value(rows[other], column));
      return (look.down && !last ? -order : order) || one - other;
    });
  }
  const ordered = column === null ? at : look.order;
  const found = ordered.filter((n) => !look.search || plain(words(rows[n])).includes(plain(look.search)));
  const pages = Math.max(1, Math.ceil(found.length / page())), each = Math.ceil(found.length / pages);
  look.page = Math.min(look.page, pages - 1);
  const from = look.page * each, shown = new Set(found.slice(from, from + each));
  const change = (next) => { Object.assign(look, next); model.draw(); };
  const turn = (to, text, label) => h("button", { type: "button", "data-at": `${key}-${label}`, "aria-label": `${name}: ${label} page`,
    "aria-disabled": to < 0 || to >= pages ? "true" : undefined, onclick: () => to >= 0 && to < pages && change({ page: to }) }, text);
  return {
    rows: ordered.map((n) => ({ row: rows[n], off: shown.has(n) ? "" : "gp-off" })),
    searched: Boolean(look.search),
    tools: h("div", { class: "gp-tools gp-long" },
      h("input", { type: "search", "data-at": `${key}-search`, placeholder: "Search", "aria-label": `Search ${name}`, value: look.search, autocomplete: "off", spellcheck: "false",
        oninput: ({ target }) => change({ search: target.value, page: 0 }) }),
      h("span", { class: "gp-small", role: "status" }, !found.length ? "No match" : pages > 1 ? `${from + 1}\u2013${from + shown.size} of ${found.length}` : look.search ? `${found.length} of ${rows.length}` : ""),
      pages > 1 ? [turn(look.page - 1, "\u2039", "previous"), turn(look.page + 1, "\u203a", "next")] : null),
    head: value ? (n, text) => ({ sort: column !== n ? "none" : look.down ? "descending" : "ascending",
      node: h("button", { type: "button", class: "gp-sort", "data-at": `${key}-sort-${n}`,
        onclick: () => change({ page: 0, ...(column !== n ? { column: n, down: false } : look.down ? { column: null } : { down: true }) }) }, text) }) : null,
    reveal: (nth) => change({ search: "", page: Math.floor(nth / Math.ceil(rows.length / Math.ceil(rows.length / page()))) }),
  };
}

const cellWords = (c) => [c.text, c.note, c.range?.text, c.mark?.text, c.basis, c.visit_text, c.tag, c.field?.options.find((o) => o.value === c.field.value)?.text].filter(Boolean).join(" ");
const sortedBy = (c) => c.sort ?? c.text;

const headCells = (heads, head) => heads.map((c, n) => {
  if (!c.text) return h("td");
  const sorted = head?.(n, c.text);
  return h("th", { scope: "col", class: c.numeric ? "n" : "", "aria-sort": sorted?.sort }, sorted?.node ?? c.text);
});

// Tables made from plain data; the last rows may be totals.
function tables(all, send, model) {
  return all.map((t, nth) => {
    const end = t.rows.length - (t.totals ?? 0);
    const many = long(model, t.key ?? `table-${nth}`, t.title || t.heads[0]?.text || "the table", t.rows.slice(0, end), (row) => row.map(cellWords).join(" "),
      { value: (row, n) => sortedBy(row[n]) });
    const line = (row, off) => h("tr", { class: [row[0].row, off].filter(Boolean).join(" ") || undefined },
      row.map((c) => h("td", { class: cellStyle(c), title: c.title }, cellContent(c, row, send))));
    return h("section", { class: "gp-tables" }, t.title ? h("h3", {}, t.title) : null, many.tools,
      t.rows.length ? h("table", { class: "gp-table", onreveal: many.reveal ? ({ target }) => many.reveal([...target.closest("tbody").children].indexOf(target.closest("tr"))) : undefined },
        t.heads.length ? h("thead", {}, h("tr", {}, headCells(t.heads, many.head))) : null,
        h("tbody", {}, many.rows.map(({ row, off }) => line(row, off)), t.rows.slice(end).map((row) => line(row, many.searched ? "gp-off" : "")))) : null,
      t.more ? h("p", { class: "gp-small" }, t.more) : null);
  });
}

const LEVELS = { stop: "Fix", warn: "Confirm", note: "Note" };

function messageList(messages, send, model) {
  const many = long(model, "messages", "messages", messages, (m) => [LEVELS[m.level], m.text, m.change, ...m.sources].join(" "));
  return [many.tools, h("ul", { class: "gp-messages" }, many.rows.map(({ row: m, off }) => h("li", { class: `gp-${m.level} ${off}`, "data-code": m.code },
    h("b", { class: "gp-tag" }, LEVELS[m.level]), h("div", {}, m.text, " ", h("em", {}, m.change), " ",
      m.where ? h("button", { type: "button", class: "gp-link", "data-at": m.code, onclick: () => send("visit", { path: m.path }) }, `Go to \u201c${m.where}\u201d`) : null,
      m.sources.length ? h("cite", {}, m.sources.join("; "), m.locator ? `, ${m.locator}` : "") : null))))];
}

// A node with such a button, which takes a file that is dropped anywhere on it.
function takesDrops(node) {
  node.addEventListener("dragover", (event) => event.preventDefault());
  node.addEventListener("drop", (event) => {
    const chooser = node.querySelector("input[type=file]");
    if (!chooser) return;
    event.preventDefault();
    chooser.files = event.dataTransfer.files;
    chooser.dispatchEvent(new Event("change"));
  });
  return node;
}
// A button that sends a small file with an event. One that is too large is refused by its beginning; the rest of it is not sent.
function fileButton(file, send, rest = {}) {
  const chooser = h("input", { type: "file", accept: file.accept, hidden: true, "aria-label": file.label, onchange: ({ target }) => take(target) });
  const take = async (taken) => {  // the one on the page, which stays when the button is drawn again
    const [chosen] = taken.files;
    if (!chosen) return;
    send(file.event, { ...rest, name: chosen.name, base64: await base64(chosen.slice(0, file.most + 1)) });
    taken.value = "";
  };
  return h("div", { class: "gp-run" }, chooser,
    h("button", { type: "button", "data-at": file.event, title: file.hint, onclick: () => chooser.click() }, file.label));
}
// The content of a file as text, as an event carries it.
const base64 = (file) => new Promise((done) => {
  const reader = new FileReader();
  reader.onloadend = () => done(reader.result?.split(",")[1] ?? "");
  reader.readAsDataURL(file);
});
