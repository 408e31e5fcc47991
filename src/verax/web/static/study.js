// Adds what a page without it does well enough: times, keys, a clock and kept drafts. Nothing here is needed to take part.
(() => {
  "use strict";

  // A page that the browser kept may be out of date: ask where the participant is.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  const form = document.querySelector("form[data-step]");
  if (!form) return;
  const fields = [...form.querySelectorAll("input[type=radio], textarea")];

  // ---- A double click is one click, though the next page has its button in the same place. Keys are not held up.
  const PAUSE = 400;
  const button = form.querySelector("button");
  button.addEventListener("click", (event) => {
    if (event.detail > 0 && button.hasAttribute("aria-disabled")) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.repeat && !event.target.matches("textarea")) event.preventDefault();
  });
  try {
    const wait = PAUSE - (Date.now() - Number(sessionStorage.getItem("verax-pressed")));
    if (wait > 0 && wait <= PAUSE) {
      button.setAttribute("aria-disabled", "true");
      setTimeout(() => button.removeAttribute("aria-disabled"), wait);
    }
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
  addEventListener("blur", () => { client.blurs += 1; });
  form.addEventListener("input", () => { client.first_input ??= now(); });
  form.addEventListener("submit", () => {
    stop();
    since = now();
    client.submitted = now();
    client.visible_ms = visible;
    form.elements.client.value = JSON.stringify(client);
  });

  // ---- Keys 1 to 9 choose an answer of the question in focus, or else of the first that is open.
  const groups = [...form.querySelectorAll("fieldset.question")];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, input:not([type=radio])")) return;
    if (!/^[0-9]$/.test(event.key)) return;
    const group = event.target.closest("fieldset.question")
      ?? groups.find((one) => !one.querySelector(":checked"))
      ?? (groups.length === 1 ? groups[0] : null);
    const choice = group?.querySelector(`input[aria-keyshortcuts="${event.key}"]`);
    if (!choice) return;
    event.preventDefault();
    choice.focus();
    choice.click();
  });

  // ---- What was written is kept on this device until it is sent.
  const own = `verax-draft-${form.dataset.step}`;
  const texts = fields.filter((field) => field.matches("textarea"));
  try {
    Object.keys(localStorage).filter((key) => key.startsWith("verax-draft-") && key !== own)
      .forEach((key) => localStorage.removeItem(key));
    const kept = JSON.parse(localStorage.getItem(own) ?? "{}");
    texts.forEach((field) => { if (!field.value && kept[field.name]) field.value = kept[field.name]; });
    if (texts.length) {
      form.addEventListener("input", () => {
        const draft = Object.fromEntries(texts.map((field) => [field.name, field.value]));
        try { localStorage.setItem(own, JSON.stringify(draft)); } catch { /* no room: the page works without */ }
      });
    }
  } catch { /* no storage here: the page works without */ }

  // ---- The clock: quiet until the last minute.
  const timer = form.querySelector(".timer");
  if (!timer) return;
  const end = performance.now() + 1000 * Number(timer.dataset.seconds);
  const closes = "closes" in timer.dataset;
  const left = timer.querySelector(".left");
  const status = form.querySelector("[role=status]");
  const said = new Set();
  const counted = (number, unit) => `${number} ${unit}${number === 1 ? "" : "s"}`;
  const answered = () => groups.every((one) => !one.hasAttribute("aria-required") || one.querySelector(":checked"))
    && texts.every((field) => !field.required || field.value.trim());
  const over = () => {
    left.textContent = closes ? "The time for this part is over: press the button to go on." : "The time is over: please answer now.";
    status.textContent = left.textContent;
    // An answer that stands on the page when its part closes is sent rather than lost.
    if (closes && groups.length && answered()) {
      client.auto = 1;
      form.requestSubmit();
    }
  };
  const tick = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    timer.classList.toggle("soon", seconds <= 60);
    if (seconds <= 0) { over(); return; }
    left.textContent = seconds > 60 ? `About ${counted(Math.ceil(seconds / 60), "minute")} left.` : `${counted(seconds, "second")} left.`;
    const mark = [10, 30, 60].find((limit) => seconds <= limit);
    if (mark && !said.has(mark)) {
      said.add(mark);
      status.textContent = `${counted(seconds, "second")} left.`;
    }
    setTimeout(tick, 1000 - ((performance.now() - (end - 1000 * seconds)) % 1000 + 1000) % 1000);
  };
  if (end > performance.now()) tick(); else timer.classList.add("soon");
})();
