// The live page: says so when what it shows is no longer up to date.
"use strict";
const stale = (is) => document.body.classList.toggle("stale", is);
for (const failed of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) document.addEventListener(failed, () => stale(true));
document.addEventListener("htmx:afterSwap", () => stale(false));
