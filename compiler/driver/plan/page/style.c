/* driver/plan/page/style.c - the style of a plan's page, and its small script: sorts its table, highlights what is
 * connected. */
#include "page.h"

const char *const page_style[] = {
    ":root{--bg:#fff;--fg:#1c2127;--soft:#59636e;--line:#d5dbe1;--panel:#f5f7f9;--move:#b3261e;--link:#0a56b8;--in:#eaf2fb;--state:#fff4d6;"
    "--out:#e9f6ec;"
    "--x0:#1f5fbf;--x1:#b3480a;--x2:#1b7f4b;--x3:#8a3ea8;--x4:#a8324a;--x5:#5c6470;"
    "--t0:#1f5fbf;--t1:#a34108;--t2:#17703f;--t3:#7f3a9b;--t4:#a8324a;--t5:#515963}",
    "@media(prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e4e8ec;--soft:#9aa5b1;--line:#37414b;--panel:#1c2229;--move:#ff8a7a;"
    "--link:#7db4ff;--in:#1a2736;"
    "--state:#332b14;--out:#16291c;--t0:#84b3ff;--t1:#ffac70;--t2:#6fd49c;--t3:#d79bf0;--t4:#ff93a8;--t5:#b4bdc8}}",
    "*{box-sizing:border-box}",
    "body{margin:0 auto;max-width:1360px;padding:24px 28px 60px;background:var(--bg);color:var(--fg);"
    "font:15px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
    "h1{font-size:26px;line-height:1.25;margin:8px 0 10px}"
    "h2{font-size:19px;margin:40px 0 8px;padding-top:14px;border-top:1px solid var(--line)}",
    "code{font-family:ui-monospace,'SF "
    "Mono',Menlo,Consolas,monospace;font-size:.92em}a{color:var(--link)}p{max-width:78ch;margin:8px 0}",
    ".lead{font-size:17.5px;max-width:76ch}.by,.more,.zero{color:var(--soft)}",
    ".tiles{display:flex;flex-wrap:wrap;gap:12px;margin:20px 0 0}"
    ".tiles div{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px "
    "16px;min-width:150px}",
    ".tiles dt{color:var(--soft);font-size:13px}.tiles dd{margin:0;font-size:21px;font-weight:600}"
    ".tiles dd.more{font-size:12.5px;font-weight:400}",
    ".scroll{overflow-x:auto;margin:12px 0}.side{display:flex;flex-wrap:wrap;gap:12px "
    "40px;align-items:flex-start;margin:14px 0}",
    ".axes{list-style:none;margin:0;padding:0}.axes li{margin:5px 0}",
    "svg{display:block;color:var(--fg);font:12px ui-monospace,'SF Mono',Menlo,Consolas,monospace}svg "
    "text{fill:var(--fg)}"
    "svg .c{text-anchor:middle}svg .r{text-anchor:end;fill:var(--soft);font-size:11px}",
    ".heat .c{fill:var(--soft);font-size:11px}.site{fill:var(--panel);stroke:var(--soft)}",
    "b.chip{display:inline-block;min-width:17px;padding:0 4px;margin-left:3px;border-radius:3px;border:1.5px solid;"
    "font:600 11.5px/15px ui-monospace,Menlo,Consolas,monospace;text-align:center}",
    "b.x0{background:var(--x0);border-color:var(--x0)}b.x1{background:var(--x1);border-color:var(--x1)}"
    "b.x2{background:var(--x2);border-color:var(--x2)}",
    "b.x3{background:var(--x3);border-color:var(--x3)}b.x4{background:var(--x4);border-color:var(--x4)}"
    "b.x5{background:var(--x5);border-color:var(--x5)}b.chip{color:#fff}",
    "b.x0.parts{color:var(--t0)}b.x1.parts{color:var(--t1)}b.x2.parts{color:var(--t2)}b.x3.parts{color:var(--t3)}"
    "b.x4.parts{color:var(--t4)}b.x5.parts{color:var(--t5)}"
    "b.chip.parts{background:none;border-style:dashed}",
    ".dag rect.box{fill:var(--bg);stroke:var(--soft);stroke-width:1.2}.dag .in rect.box{fill:var(--in)}"
    ".dag .state rect.box{fill:var(--state)}.dag .out rect.box{fill:var(--out);stroke-width:2}",
    ".dag .name{font-weight:700}.dag .s,.dag .k{fill:var(--soft);font-size:11px}.dag .s{text-anchor:end}"
    ".dag .m,.dag .w{fill:var(--move);font-size:11px}",
    ".dag .w{paint-order:stroke;stroke:var(--bg);stroke-width:4px;stroke-linejoin:round}.dag a{text-decoration:none}",
    ".dag .e{fill:none;stroke:var(--soft);opacity:.75}.dag .e.m{stroke:var(--move);opacity:.8}.dag "
    ".back{stroke-dasharray:5 4}"
    "#a{fill:var(--soft)}#am{fill:var(--move)}",
    ".dag text.c{font-size:11px;font-weight:600;fill:#fff}.dag rect.chip{stroke-width:1.5}.dag "
    "rect.none{fill:none;stroke:var(--line)}"
    ".dag text.none{fill:var(--soft)}",
    "rect.x0{fill:var(--x0);stroke:var(--x0)}rect.x1{fill:var(--x1);stroke:var(--x1)}rect.x2{fill:var(--x2);stroke:var(--x2)}",
    "rect.x3{fill:var(--x3);stroke:var(--x3)}rect.x4{fill:var(--x4);stroke:var(--x4)}rect.x5{fill:var(--x5);stroke:var(--x5)}",
    ".dag rect.parts{fill:var(--bg);stroke-dasharray:3 2}.dag text.x0.parts{fill:var(--t0)}.dag "
    "text.x1.parts{fill:var(--t1)}"
    ".dag text.x2.parts{fill:var(--t2)}",
    ".dag text.x3.parts{fill:var(--t3)}.dag text.x4.parts{fill:var(--t4)}.dag text.x5.parts{fill:var(--t5)}",
    ".dag.some .e,.dag.some .n,.dag.some .w{opacity:.22}.dag.some .e.on,.dag.some .n.on{opacity:1}",
    ".n:target rect.box{stroke:var(--link);stroke-width:3}tr:target{background:var(--in)}",
    "table{border-collapse:collapse;font-size:13px}"
    "th,td{padding:4px 7px;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}"
    "thead th{background:var(--panel);white-space:nowrap;"
    "border-bottom:2px solid var(--line)}td.num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "tr.in{color:var(--soft)}td code{display:block;min-width:20em;overflow-wrap:anywhere}td.at{white-space:nowrap}"
    "tbody th{max-width:17em;overflow-wrap:anywhere}",
    "th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px solid var(--link)}"
    "th button::after{content:' \\2195';color:var(--soft)}"
    "th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' \\2193'}",
    ".cut{white-space:nowrap;margin-right:6px}.words{max-width:86ch}.words dt{font-weight:700;margin-top:10px}.words "
    "dd{margin:0}",
    ".q0{fill:var(--panel);background:var(--panel)}.q1{fill:#f7d9c4;background:#f7d9c4}.q2{fill:#f2bd9b;background:#f2bd9b}"
    ".q3{fill:#eaa077;background:#eaa077}.q4{fill:#df8258;background:#df8258}",
    ".q5{fill:#cf633f;background:#cf633f}.q6{fill:#b7452d;background:#b7452d}.q7{fill:#962a20;background:#962a20}"
    ".q8{fill:#6d1417;background:#6d1417}",
    "@media(prefers-color-scheme:dark){.q1{fill:#3a211b;background:#3a211b}.q2{fill:#552a20;background:#552a20}"
    ".q3{fill:#743526;background:#743526}.q4{fill:#96432d;background:#96432d}"
    ".q5{fill:#b85637;background:#b85637}.q6{fill:#d67146;background:#d67146}.q7{fill:#ec955f;background:#ec955f}"
    ".q8{fill:#ffc489;background:#ffc489}}",
    ".scale i{display:inline-block;width:24px;height:13px;vertical-align:-2px;border:1px solid var(--line)}",
    ".grid{stroke:var(--line);fill:none}.band0{fill:#8fa3b8;background:#8fa3b8}.band1{fill:#2f74c0;background:#2f74c0}"
    ".hit{fill:transparent}.hit:hover{fill:var(--fg);fill-opacity:.12}",
    ".key{display:inline-block;width:13px;height:13px;vertical-align:-2px;border-radius:2px}",
    "@media print{body{max-width:none;padding:0;font-size:11px}.scroll{overflow:visible}svg{max-width:100%;height:auto}"
    "section{break-inside:auto}tr,svg{break-inside:avoid}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}",
    NULL,
};

const char *const page_script[] = {
    "'use strict';",
    "for (const table of document.querySelectorAll('table.sort')) {",
    "  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];",
    "  heads.forEach((head, k) => {",
    "    const button = document.createElement('button');",
    "    button.textContent = head.textContent;",
    "    head.replaceChildren(button);",
    "    button.addEventListener('click', () => {",
    "      const words = body.rows.length > 0 && body.rows[0].cells[k].dataset.v === undefined, now = "
    "head.getAttribute('aria-sort');",
    "      const up = now ? now === 'descending' : words;",
    "      const key = row => { const c = row.cells[k]; return c.dataset.v === undefined ? c.textContent : "
    "+c.dataset.v; };",
    "      const less = (a, b) => typeof a === 'number' ? a - b : a.localeCompare(b, 'en', { numeric: true });",
    "      const rows = [...body.rows].sort((a, b) => up ? less(key(a), key(b)) : less(key(b), key(a)));",
    "      heads.forEach(h => h.removeAttribute('aria-sort'));",
    "      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');",
    "      body.append(...rows);",
    "    });",
    "  });",
    "}",
    "for (const dag of document.querySelectorAll('svg.dag')) {",
    "  const node = n => dag.querySelector('#n' + n);",
    "  for (const box of dag.querySelectorAll('a.n')) {",
    "    const mark = on => {",
    "      dag.classList.toggle('some', on);",
    "      box.classList.toggle('on', on);",
    "      for (const e of dag.querySelectorAll('.e')) {",
    "        if (e.dataset.f !== box.dataset.n && e.dataset.t !== box.dataset.n) continue;",
    "        for (const x of [e, node(e.dataset.f), node(e.dataset.t)]) x.classList.toggle('on', on);",
    "      }",
    "    };",
    "    box.addEventListener('mouseenter', () => mark(true));",
    "    box.addEventListener('mouseleave', () => mark(false));",
    "  }",
    "}",
    NULL,
};
