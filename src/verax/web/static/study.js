// Adds what a page without it does well enough: times, keys, a clock and kept drafts. Nothing here is needed to take part.
(() => {
  "use strict";

  // A page that the browser kept may be out of date: ask where the participant is.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  // ---- What the page holds ready to be said, in its own language; numbers by the form of their plural.
  const say = JSON.parse(document.body.dataset.words ?? "{}");
  const plurals = new Intl.PluralRules(document.documentElement.lang || "en");
  const counted = (forms, number) => (forms[plurals.select(number)] ?? forms.other).replace("{n}", number);

  // ---- The completion code, with one press; where the browser does not allow it, the code is selected as before.
  const copy = document.querySelector("button.copy");
  if (copy && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      const code = document.querySelector(".completion");
      try {
        await navigator.clipboard.writeText(code.textContent.trim());
        copy.parentElement.querySelector("[role=status]").textContent = say.copied;
      } catch {
        getSelection().selectAllChildren(code);
        copy.parentElement.querySelector("[role=status]").textContent = say.selected;
      }
    });
  }

  const form = document.querySelector("form[data-step]");
  if (!form) return;
  const button = form.querySelector(".actions button");
  const page = form.querySelector(".page");
  const status = form.querySelector("[role=status]");
  const asked = [...form.querySelectorAll(".question")];
  const groups = asked.filter((one) => one.matches("fieldset"));
  const texts = [...form.querySelectorAll("textarea, input.line")];
  // A list to be ranked has a choice of places beside each entry; whether the places differ is for the server to say.
  const isOpen = (one) => {
    if (!one.matches("fieldset")) {
      const written = one.querySelector("textarea, input.line");
      return written.required && !written.value.trim();
    }
    if (!("required" in one.dataset)) return false;
    const ranked = [...one.querySelectorAll("select")];
    return ranked.length ? ranked.some((each) => !each.value) : !one.querySelector(":checked");
  };
  const field = (one) => one.querySelector("input, textarea, select");

  // ---- Many questions are asked one after the other, so that all answers of each are in sight.
  const words = button.textContent;
  let current = -1;
  const goTo = (number) => {
    current = number;
    asked.forEach((one, place) => { one.hidden = place !== current; });
    button.textContent = current < asked.length - 1 ? say["next-question"] : words;
    back.hidden = current === 0;
    count.textContent = say["question-of"].replace("{n}", current + 1).replace("{of}", asked.length);
    status.textContent = count.textContent;
  };
  const back = document.createElement("button");
  const count = document.createElement("p");
  const isSurvey = document.body.classList.contains("survey");
  if (document.body.classList.contains("long") && !isSurvey) {
    document.body.classList.remove("long");
    form.classList.add("paged");
    back.type = "button";
    back.className = "second";
    back.textContent = say.back;
    back.addEventListener("click", () => { goTo(current - 1); field(asked[current]).focus(); });
    button.after(back);
    count.className = "quiet count";
    count.setAttribute("aria-hidden", "true");
    asked[0].parentElement.prepend(count);
    const missing = asked.findIndex((one) => one.matches("[aria-invalid]") || one.querySelector("[aria-invalid]"));
    goTo(Math.max(0, missing));
    if (missing >= 0) field(asked[missing]).focus();
  }

  // ---- Who has not seen the end of a longer text is led there first. The button does it too, a windowful at a time, so
  // that it takes neither a wheel nor eyes; where nothing scrolls in a box of its own, the button itself is the end.
  // What to do, which the page before has said and small windows show last, need not be read again.
  const read = [...page.querySelectorAll(":scope > .columns:not(.said) > section")];
  const bottom = (one) => one.getBoundingClientRect().bottom;
  const isUnread = () => Math.max(0, ...read.map(bottom)) - bottom(page) > 6;
  const unreadOrRead = () => {
    if (!("unread" in form.dataset) || isUnread()) return;
    delete form.dataset.unread;
    button.textContent = words;
  };
  const findOverflow = () => { if (page.scrollHeight - page.clientHeight > 6) page.tabIndex = 0; };
  if (current < 0 && isUnread()) {
    form.dataset.unread = "";
    button.textContent = say["read-on"];
  }
  findOverflow();
  page.addEventListener("scroll", unreadOrRead, { passive: true });
  // The window may change, and so may what stands above: a clock says less once it runs.
  new ResizeObserver(() => { findOverflow(); unreadOrRead(); }).observe(page);

  // ---- A page that only is to be read can have a time before which it is not left; it counts down on the button.
  const readingEnds = performance.now() + 1000 * Number(form.dataset.reading ?? 0);
  const secondsToRead = () => Math.ceil((readingEnds - performance.now()) / 1000);
  const label = document.createElement("span");
  const countDown = () => {
    const seconds = secondsToRead();
    label.textContent = seconds > 0 ? ` (${seconds})` : "";
    if (seconds <= 0) { label.remove(); return; }
    if (!label.isConnected) button.append(label);
    setTimeout(countDown, 200);
  };
  if (secondsToRead() > 0) countDown();

  // ---- The way on: to what is unread, to the next question, or to what is still open; only then is the page sent.
  const goOn = () => {
    if (closed) return true;
    if ("unread" in form.dataset) {
      page.scrollBy({ top: Math.max(40, page.clientHeight - 40), behavior: "instant" });
      unreadOrRead();
      status.textContent = "unread" in form.dataset ? say["more-to-read"] : say["all-read"];
      return false;
    }
    if (secondsToRead() > 0) {
      status.textContent = counted(say["read-first"], secondsToRead());
      return false;
    }
    const open = isSurvey ? asked.find(isOpen) : asked[current];
    if (open && isOpen(open)) {
      status.textContent = say["answer-first"];
      asked.forEach((one) => one.classList.toggle("open", one === open));
      open.scrollIntoView({ block: "center", behavior: "instant" });
      field(open).focus({ preventScroll: true });
      return false;
    }
    if (current >= 0 && current < asked.length - 1) {
      goTo(current + 1);
      field(asked[current]).focus({ preventScroll: true });
      return false;
    }
    return true;
  };
  let closed = false;
  const PAUSE = 400;
  const holdUp = (wait) => {
    button.setAttribute("aria-disabled", "true");
    setTimeout(() => button.removeAttribute("aria-disabled"), wait);
  };
  form.addEventListener("submit", (event) => {
    if (goOn()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    holdUp(PAUSE);
  });

  // ---- A double click is one click, though the next page has its button in the same place. Keys are not held up.
  button.addEventListener("click", (event) => {
    if (event.detail > 0 && button.hasAttribute("aria-disabled")) event.preventDefault();
  });
  // Enter goes on from anywhere but a text or a link, to an open question where there is one. Held down it does nothing,
  // and a second stroke right after the page before does not skip a page on which nothing was touched yet.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target.matches("textarea")) return;
    if (event.repeat) { event.preventDefault(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("a, button, summary, select, input:not([type=radio])")) return;
    event.preventDefault();
    if (!event.target.closest(".question") && button.hasAttribute("aria-disabled")) return;
    const open = current < 0 && !("unread" in form.dataset) && !closed && asked.find(isOpen);
    if (open) {
      status.textContent = say["answer-first"];
      field(open).focus();
    } else {
      form.requestSubmit(button);
    }
  });
  try {
    const wait = PAUSE - (Date.now() - Number(sessionStorage.getItem("verax-pressed")));
    if (wait > 0 && wait <= PAUSE) holdUp(wait);
    form.addEventListener("submit", () => sessionStorage.setItem("verax-pressed", String(Date.now())));
  } catch { /* no storage here: the server takes care of copies */ }

  // ---- Times, in milliseconds since the page was asked for.
  const now = () => Math.round(performance.now());
  const client = { shown: now(), blurs: 0 };
  let visible = 0;
  let since = document.visibilityState === "visible" ? client.shown : null;
  // Shown is when the browser draws; a page in a tab behind others is not drawn until it comes to the front.
  requestAnimationFrame(() => {
    client.shown = now();
    if (since !== null) since = client.shown;
  });
  const stop = () => { if (since !== null) { visible += now() - since; since = null; } };
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") since = now(); else stop();
  });
  let away = 0;
  let blurred = null;
  addEventListener("blur", () => { client.blurs += 1; blurred ??= now(); });
  addEventListener("focus", () => { if (blurred !== null) { away += now() - blurred; blurred = null; } });
  // With what the page was answered last, by number: mouse, touch, pen, keyboard.
  const POINTERS = ["mouse", "touch", "pen", "keyboard"];
  document.addEventListener("pointerdown", (event) => { client.pointer = POINTERS.indexOf(event.pointerType) + 1 || 1; });
  document.addEventListener("keydown", () => { client.pointer = 4; });
  // How an answer in one's own words came to be: keys pressed and texts pasted.
  texts.forEach((one) => {
    one.addEventListener("keydown", () => { client.typed = (client.typed ?? 0) + 1; });
    one.addEventListener("paste", () => { client.pastes = (client.pastes ?? 0) + 1; });
  });
  // A phone or a tablet has no fine pointer; phones are narrow in one direction.
  const device = () => {
    if (matchMedia("(any-pointer: fine)").matches && !matchMedia("(pointer: coarse)").matches) return 3;
    return Math.min(screen.width, screen.height) < 600 ? 1 : 2;
  };
  // Browsers that translate a page mark it, or change its language.
  const language = document.documentElement.lang;
  const isTranslated = () => /\btranslated-(ltr|rtl)\b/.test(document.documentElement.className)
    || document.documentElement.lang !== language || Boolean(document.querySelector("[_msttexthash]"));
  form.addEventListener("input", () => { client.first_input ??= now(); });
  form.addEventListener("submit", () => {
    stop();
    since = now();
    client.submitted = now();
    client.visible_ms = visible;
    client.away_ms = away + (blurred === null ? 0 : now() - blurred);
    client.width = innerWidth;
    client.height = innerHeight;
    client.zoom = Math.round(100 * devicePixelRatio) / 100;
    client.device = device();
    client.translated = isTranslated() ? 1 : 0;
    if (texts.length) client.written = texts.reduce((sum, one) => sum + one.value.length, 0);
    form.elements.client.value = JSON.stringify(client);
  });

  // ---- How much time is left, at the participant's own pace: the more is done, the more that counts. Time away does not.
  const rest = document.querySelector(".remaining");
  const bar = document.querySelector("progress");
  if (rest) {
    try {
      const LONGEST = 180;
      const pace = JSON.parse(sessionStorage.getItem("verax-pace") ?? "{}");
      const { seconds = 0, share = 0 } = pace;
      const usual = Number(rest.dataset.minutes);
      const trust = share / (share + 0.1);
      const whole = share > 0 ? (1 - trust) * usual + trust * (seconds / 60 / share) : usual;
      const left = whole * (1 - bar.value / bar.max);
      const many = Math.ceil(left);
      rest.textContent = left < 1 ? say["under-a-minute"] : counted(say["minutes-left"], many);
      form.addEventListener("submit", () => {
        const here = Math.min(LONGEST, client.visible_ms / 1000);
        sessionStorage.setItem("verax-pace", JSON.stringify({ seconds: seconds + here, share: share + 1 / bar.max }));
      });
    } catch { /* no storage here: the server's estimate stands */ }
  }

  // ---- Keys 1 to 9 answer the question in focus, or else the next that is open. What is answered is changed with the
  // mouse or the arrow keys only: who types 6 and then 1 means two questions.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || closed) return;
    if (event.target.matches("textarea, select, input:not([type=radio])") || !/^[0-9]$/.test(event.key)) return;
    const here = event.target.closest("fieldset.question");
    const next = here ? [...groups.slice(groups.indexOf(here)), ...groups] : groups;
    const group = next.find((one) => !one.hidden && !one.querySelector(":checked"));
    const choice = group?.querySelector(`input[aria-keyshortcuts="${event.key}"]`);
    if (!choice) return;
    event.preventDefault();
    choice.focus();
    choice.click();
  });

  // ---- What was written is kept on this device until it is sent.
  const own = `verax-draft-${form.dataset.step}`;
  try {
    Object.keys(localStorage).filter((key) => key.startsWith("verax-draft-") && key !== own)
      .forEach((key) => localStorage.removeItem(key));
    const kept = JSON.parse(localStorage.getItem(own) ?? "{}");
    texts.forEach((one) => { if (!one.value && kept[one.name]) one.value = kept[one.name]; });
    if (texts.length) {
      form.addEventListener("input", () => {
        const draft = Object.fromEntries(texts.map((one) => [one.name, one.value]));
        try { localStorage.setItem(own, JSON.stringify(draft)); } catch { /* no room: the page works without */ }
      });
    }
  } catch { /* no storage here: the page works without */ }

  // ---- The clock: always in sight, loud only in the last minute, and it says what it ends.
  const timer = form.querySelector(".timer");
  if (!timer) return;
  const end = performance.now() + 1000 * Number(timer.dataset.seconds);
  const closes = "closes" in timer.dataset;
  const what = timer.dataset.what;
  const left = timer.querySelector(".left");
  const said = new Set();
  const over = () => {
    left.textContent = say[`${closes ? "over-go-on" : "over-answer"}-${what}`];
    status.textContent = left.textContent;
    if (!closes) return;
    closed = true;
    delete form.dataset.unread;
    button.textContent = words;
    // An answer that stands on the page when its part closes is sent rather than lost.
    if (groups.length && !asked.some(isOpen)) {
      client.auto = 1;
      form.requestSubmit();
    }
    // Later ones would not count, so they cannot be given; what is sent now was read from the form already.
    groups.forEach((one) => { one.disabled = true; });
    texts.forEach((one) => { one.readOnly = true; });
  };
  const tick = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    timer.classList.toggle("soon", seconds <= 60);
    if (seconds <= 0) { over(); return; }
    left.textContent = seconds > 60
      ? counted(say[`clock-minutes-${what}`], Math.ceil(seconds / 60)) : counted(say[`clock-seconds-${what}`], seconds);
    const mark = [10, 30, 60].find((limit) => seconds <= limit);
    if (mark && !said.has(mark)) {
      said.add(mark);
      status.textContent = counted(say[`seconds-left-${what}`], seconds);
    }
    setTimeout(tick, 1000 - ((performance.now() - (end - 1000 * seconds)) % 1000 + 1000) % 1000);
  };
  timer.classList.add("ticking");
  if (end > performance.now()) tick(); else { timer.classList.add("soon"); over(); }
})();
