// The report's page: its style, its frame and its script. The script reads the data beside it and draws it as text.

import { OUTCOME_CLASS } from '../batch/outcome.ts';

const COLOURS = Object.entries(OUTCOME_CLASS)
  .map(
    ([outcome, seen]) =>
      `.${outcome} { color: var(--${seen}); } i.${outcome} { background: var(--${seen}); }`,
  )
  .join('\n');

export const REPORT_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --good: #2a8a4a; --bad: #c33c31; --odd: #b7791f; }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 24px; }
h1 { font-size: 22px; margin: 0 0 4px; }
.soft { opacity: .7; font-size: 13px; overflow-wrap: anywhere; }
.bar { display: flex; height: 14px; border-radius: 7px; overflow: hidden; margin: 16px 0 8px; background: var(--soft); }
.bar i { display: block; }
.facts { display: flex; flex-wrap: wrap; gap: 8px 28px; margin: 12px 0 20px; }
.facts b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin: 16px 0; position: sticky; top: 0; padding: 8px 0; background: Canvas; z-index: 1; }
button, input { font: inherit; padding: 4px 12px; border: 1px solid var(--line); border-radius: 16px; background: none; color: inherit; }
button[aria-pressed=true] { background: var(--soft); border-color: currentColor; }
input { flex: 1; min-width: 160px; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 14px; }
article { border: 1px solid var(--line); border-radius: 10px; overflow: hidden; display: flex; flex-direction: column; }
article img { width: 100%; aspect-ratio: 1; object-fit: cover; display: block; background: var(--soft); image-rendering: auto; }
article .none { aspect-ratio: 1; display: grid; place-items: center; text-align: center; padding: 12px; background: var(--soft); font-size: 13px; overflow: auto; overflow-wrap: anywhere; }
article dl { margin: 0; padding: 8px 10px; font-size: 12px; }
article dt { opacity: .6; float: left; clear: left; margin-right: 6px; }
article dd { margin: 0 0 2px; overflow-wrap: anywhere; max-height: 4.4em; overflow: auto; white-space: pre-wrap; }
${COLOURS}
table { border-collapse: collapse; font-size: 13px; margin: 8px 0 20px; font-variant-numeric: tabular-nums; }
td, th { text-align: right; padding: 2px 14px 2px 0; } td:first-child, th:first-child { text-align: left; }
@media print { nav { display: none; } article { break-inside: avoid; } }
`;

export const REPORT_BODY = `<body>
<h1 id="title"></h1>
<div class="soft" id="source"></div>
<div class="bar" id="bar" role="img"></div>
<div class="facts" id="facts"></div>
<table id="gpus"></table>
<nav id="filters" aria-label="Rows shown"></nav>
<div class="soft" id="count" aria-live="polite"></div>
<main id="rows"></main>
<noscript>This page draws its data with a script of its own.</noscript>
</body>`;

export const REPORT_SCRIPT = `
const { summary, rows, sheet } = JSON.parse(document.getElementById('data').textContent);
const put = (parent, tag, text, className) => {
  const element = parent.appendChild(document.createElement(tag));
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};
const at = (id) => document.getElementById(id);
const money = (usd) => '$' + (usd < 0.1 ? usd.toFixed(4) : usd.toFixed(2));
const span = (s) => s < 90 ? s.toFixed(1) + ' s' : s < 5400 ? (s / 60).toFixed(1) + ' min' : (s / 3600).toFixed(1) + ' h';

at('title').textContent = summary.batch + (summary.rehearsal ? ' (rehearsal)' : '');
at('source').textContent = sheet.name + ' · sha256 ' + sheet.sha256.slice(0, 16) + ' · ' + summary.deployment + ' · ' + summary.started_at;
const outcomes = Object.entries(summary.outcomes).filter(([, count]) => count > 0);
at('bar').setAttribute('aria-label', outcomes.map(([name, count]) => count + ' ' + name).join(', '));
for (const [name, count] of outcomes) put(at('bar'), 'i', undefined, name).style.flexGrow = count;
const fact = (label, value, className) => { const box = put(at('facts'), 'div', label); box.prepend(Object.assign(document.createElement('b'), { textContent: value, className: className || '' })); };
for (const [name, count] of outcomes) fact(name, count.toLocaleString('en'), name);
fact('wall time', span(summary.seconds));
fact('cost, estimated', money(summary.cost_usd));
if (summary.climbing) fact('climbing, ' + summary.climbing.runs.toLocaleString('en') + ' runs', money(summary.climbing.cost_usd));
fact('requests sent', summary.requests.sent.toLocaleString('en'));

const gpus = Object.entries(summary.gpus);
if (gpus.length > 0) {
  const head = put(at('gpus'), 'tr');
  for (const name of ['GPU', 'runs', 'GPU time', 'cost, estimated']) put(head, 'th', name);
  for (const [gpu, use] of gpus) {
    const line = put(at('gpus'), 'tr');
    for (const cell of [gpu, use.runs.toLocaleString('en'), span(use.seconds), money(use.cost_usd)]) put(line, 'td', cell);
  }
}

const picture = /\\.(a?png|jpe?g|webp|gif|avif|svg)$/;
const card = (row) => {
  const box = put(at('rows'), 'article');
  const file = row.files.find((path) => picture.test(path));
  if (file) {
    const link = put(box, 'a');
    link.href = file;
    Object.assign(put(link, 'img'), { src: file, loading: 'lazy', alt: 'output of row ' + row.row });
  } else put(box, 'div', row.reason || row.files.join(', ') || row.outcome, 'none ' + row.outcome);
  const list = put(box, 'dl');
  const say = (name, value, className) => { put(list, 'dt', name); put(list, 'dd', value, className); };
  say('row', row.row + (row.attempts > 1 ? ' · ' + row.attempts + ' attempts' : ''));
  say('outcome', row.outcome, row.outcome);
  for (const [name, value] of Object.entries(row.inputs)) say(name, value);
  if (row.more) say('inputs', row.more.toLocaleString('en') + ' more, in results.jsonl');
  if (row.gpu) say('gpu', row.gpu + (row.seconds === undefined ? '' : ' · ' + span(row.seconds)) + (row.cost ? ' · ' + money(row.cost) : ''));
};

const shown = { outcome: '', text: '' };
const draw = () => {
  const text = shown.text.toLowerCase();
  const found = rows.filter((row) => (!shown.outcome || row.outcome === shown.outcome) && (!text || JSON.stringify(row).toLowerCase().includes(text)));
  at('rows').replaceChildren();
  found.forEach(card);
  at('count').textContent = found.length + ' rows shown' + (rows.length < summary.rows ? ' of the ' + rows.length + ' in this page; the batch has ' + summary.rows + ', all in results.csv' : '');
};
const choices = [['', 'all'], ...outcomes.map(([name]) => [name, name])];
for (const [outcome, label] of choices) {
  const button = put(at('filters'), 'button', label);
  button.setAttribute('aria-pressed', String(outcome === ''));
  button.onclick = () => {
    shown.outcome = outcome;
    for (const other of at('filters').querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === button));
    draw();
  };
}
const search = put(at('filters'), 'input');
Object.assign(search, { type: 'search', placeholder: 'find in rows', oninput: () => { shown.text = search.value; draw(); } });
draw();
`;
