// The live page: says so when what it shows is no longer up to date.
"use strict";
const stale = (is) => document.body.classList.toggle("stale", is);
for (const failed of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) document.addEventListener(failed, () => stale(true));
document.addEventListener("htmx:afterSwap", () => stale(false));

// Times stand on the page in UTC; whoever reads them lives somewhere.
const local = () => {
  for (const time of document.querySelectorAll("time[datetime]:not([title])")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.textContent;
    time.textContent = at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
};
document.addEventListener("htmx:afterSwap", local);
local();
