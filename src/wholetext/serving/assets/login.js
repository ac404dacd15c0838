// The token is exchanged for a cookie that no script can read.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.drawn = dark.matches ? "dark" : "light";

// A report has no origin: a link from it comes without the cookie, which this page has.
fetch("/v1/jobs").then((answer) => {
  if (answer.ok) location.replace("/");
});

document.getElementById("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const error = document.getElementById("error"),
    field = document.getElementById("token");
  error.textContent = "";
  try {
    const headers = { authorization: `Bearer ${field.value.trim()}` };
    const answer = await fetch("/login", { method: "POST", headers });
    if (answer.ok) location.assign("/");
    else error.textContent = (await answer.json()).error;
  } catch {
    error.textContent = "The server does not answer, or a token cannot have these characters.";
  }
  field.select();
});
