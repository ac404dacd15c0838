// The token is exchanged for a cookie that no script can read.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.drawn = dark.matches ? "dark" : "light";

document.getElementById("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const error = document.getElementById("error"),
    field = document.getElementById("token");
  error.textContent = "";
  try {
    const answer = await fetch("/login", { method: "POST", body: JSON.stringify({ token: field.value.trim() }) });
    if (answer.ok) location.assign("/");
    else error.textContent = (await answer.json()).error;
  } catch {
    error.textContent = "The server does not answer.";
  }
  field.select();
});
