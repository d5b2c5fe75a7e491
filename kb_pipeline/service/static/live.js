// Hover and refresh, and nothing else: every number is on the page without it.
"use strict";

const main = document.getElementById("main");
const seconds = Number(main.dataset.live || 0);

function readout(plot, event) {
  const rows = [...document.querySelectorAll("#numbers tbody tr")].reverse();
  const panel = plot.closest(".panel");
  if (!rows.length || !panel) return;
  const box = plot.getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  const cells = rows[Math.round(share * (rows.length - 1))].children;
  const place = [...document.querySelectorAll(".panel")].indexOf(panel);
  const tip = panel.querySelector(".readout") || panel.appendChild(document.createElement("p"));
  tip.className = "readout";
  tip.textContent = `${cells[0].textContent}: ${cells[1 + 2 * place].textContent} (${cells[2 + 2 * place].textContent})`;
}

main.addEventListener("pointermove", (event) => {
  const plot = event.target.closest(".plot");
  document.querySelectorAll(".readout").forEach((tip) => { if (!plot || !tip.closest(".panel").contains(plot)) tip.remove(); });
  if (plot) readout(plot, event);
});

async function refresh() {
  const busy = document.activeElement && main.contains(document.activeElement) && document.activeElement !== main;
  if (document.hidden || busy || document.querySelector("details[open]")) return;
  try {
    const reply = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (!reply.ok) return;
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("main");
    if (fresh) main.replaceChildren(...fresh.childNodes);
  } catch { /* The next one may succeed. */ }
}

if (seconds) setInterval(refresh, seconds * 1000);
