// A link carries the design in its fragment: keep it across the form.
const form = document.querySelector("form");
form.addEventListener("submit", () => { form.action += location.hash; });
