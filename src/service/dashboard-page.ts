// The dashboard's page: one file without external resources, and a content security policy that forbids them. It contains no
// data: its script requests them every second.

import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

/** The dashboard script, which runs in a browser. All data becomes text or the address of a picture of this service, never markup. */
const LIVE_SCRIPT = `
const at = (id) => document.getElementById(id);

/** Makes the children of an element those of the list: [tag, attributes, text or children], known again by their key or place. */
// Only changes are written, so that selection, focus and pictures are kept.
const fill = (parent, list) => {
  const wanted = list.flatMap((one, place) => one ? [[one[0] + ' ' + (one[1].key ?? place), ...one]] : []);
  const known = new Map(Array.from(parent.children, (element) => [element.key, element]));
  const names = new Set(wanted.map(([name]) => name));
  for (const [name, element] of known) if (!names.has(name)) element.remove();
  wanted.forEach(([name, tag, { key, ...attributes }, inner = ''], place) => {
    const element = known.get(name) ?? Object.assign(document.createElement(tag), { key: name });
    for (const [attribute, value] of Object.entries(attributes))
      if (element.getAttribute(attribute) !== String(value)) element.setAttribute(attribute, value);
    if (typeof inner !== 'string') fill(element, inner);
    else if (element.textContent !== inner) element.textContent = inner;
    if (parent.children[place] !== element) parent.insertBefore(element, parent.children[place] ?? null);
  });
};

const KINDS = {
  'not-started': ['wait', '\\u25CB', 'waits'],
  queued: ['work', '\\u25D4', 'boots'],
  started: ['work', '\\u25D1', 'starts'],
  running: ['work', '\\u25B6', 'runs'],
  uploading: ['work', '\\u25B2', 'uploads'],
  success: ['good', '\\u2713', 'success'],
  failed: ['bad', '\\u2715', 'failed'],
  timeout: ['bad', '\\u29D6', 'timeout'],
  cancelled: ['odd', '\\u2298', 'cancelled'],
};
const kindOf = (status) => Object.hasOwn(KINDS, status) ? KINDS[status] : ['odd', '?', status];
const span = (s) => s < 90 ? s.toFixed(1) + ' s' : s < 5400 ? (s / 60).toFixed(1) + ' min' : (s / 3600).toFixed(1) + ' h';
const count = (n) => n.toLocaleString('en');

const bar = (run) => ['progress', { key: 'bar', 'aria-label': 'progress of run ' + run.number, max: 1, value: run.progress }];
const heading = (name, note) => ['h3', {}, [['span', {}, name], ['span', { class: 'soft' }, note]]];

const CELLS_MAX = 64;
const cellsOf = ({ limit, busy, idle }) => Array.from({ length: Math.min(limit, CELLS_MAX) }, (_, index) =>
  ['i', { class: index < busy ? 'busy' : index < busy + idle ? 'idle' : 'free' }]);
const poolOf = (pool) => ['div', { key: pool.name, class: 'pool' }, [
  heading(pool.name, pool.gpu),
  ['div', { class: 'cells', 'aria-hidden': true }, cellsOf(pool)],
  ['p', {}, pool.busy + ' running, ' + pool.idle + ' warm, at most ' + pool.limit + (pool.waiting > 0 ? '; ' + count(pool.waiting) + ' queued' : '')],
]];

const SERVER_KINDS = { busy: 'work', idle: 'good', away: 'bad', asked: 'odd' };
const SERVER_WORDS = { busy: 'busy', idle: 'idle', away: 'does not answer', asked: 'has not answered yet' };
const serverOf = ({ name, gpu, version, state, seconds, reason, run }) => ['div', { key: name, class: 'pool' }, [
  heading(name, [gpu, version && 'ComfyUI ' + version].filter(Boolean).join(' \u00B7 ')),
  ['p', { class: SERVER_KINDS[state] }, [
    ['b', {}, SERVER_WORDS[state]],
    ['span', {}, (seconds === null ? '' : ' for ' + span(seconds)) + (reason ? ': ' + reason : '')],
  ]],
  ['p', {}, run === null ? '' : '#' + run.number + ' ' + run.deployment + (run.doing ? ': ' + run.doing : '')],
  run && bar(run),
]];

const runOf = (run) => {
  const [kind, sign, words] = kindOf(run.status);
  const picture = run.picture && ['img', { alt: 'picture of run ' + run.number, width: 160, height: 160, src: run.picture }];
  const work = kind === 'work' ? [['span', { key: 'doing', class: 'doing' }, run.doing], bar(run)] : [];
  return ['article', { key: run.id, class: kind, title: run.id }, [
    ['div', { class: 'frame' }, [picture || ['span', { class: 'sign', 'aria-hidden': true }, sign], ...work]],
    ['p', { class: 'line' }, [['b', {}, (run.picture ? sign + ' ' : '') + words], ['span', { class: 'soft' }, '#' + run.number]]],
    ['p', { class: 'words' }, run.words],
    ['p', { class: 'soft' }, [run.deployment, run.gpu, span(run.seconds)].join(' \\u00B7 ')],
  ]];
};

const draw = (live) => {
  const sum = (name) => live.pools.reduce((total, pool) => total + pool[name], 0);
  const figures = [['queued', sum('waiting')], ['running', sum('busy')], ['warm', sum('idle')], ['runs in total', live.runs]];
  fill(at('figures'), figures.map(([name, value]) => ['div', {}, [['dd', {}, count(value)], ['dt', {}, name]]]));
  say(at('behaviour'), 'Behaviour: ' + live.behaviour + '.');
  fill(at('servers'), live.servers.map(serverOf));
  fill(at('pools'), live.pools.map(poolOf));
  fill(at('atWork'), live.atWork.map(runOf));
  const more = sum('busy') - live.atWork.length;
  say(at('work-count'), more > 0 ? 'the first ' + live.atWork.length + ' of ' + count(sum('busy')) : live.atWork.length === 0 ? 'nothing' : '');
  say(at('next'), live.next.length === 0 ? '' : 'Next in the queue: ' + live.next.map((run) => '#' + run.number + ' ' + run.words).join(' \\u00B7 '));
  fill(at('ended'), live.ended.map(runOf));
};
const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };

const EVERY_MS = 1000;
let timer;
const look = async () => {
  clearTimeout(timer);
  // A hidden page sends no requests.
  if (document.hidden) return;
  try {
    const answer = await fetch('/live', { cache: 'no-store' });
    if (!answer.ok) throw new Error(String(answer.status));
    draw(await answer.json());
    at('state').className = 'fine';
    say(at('state'), '\\u25CF live');
  } catch {
    at('state').className = 'lost';
    say(at('state'), '\\u25CC the service does not answer; the page is out of date');
  }
  timer = setTimeout(look, EVERY_MS);
};
document.addEventListener('visibilitychange', look);
look();
`;

const DASHBOARD_STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf8, #15171a); --card: light-dark(#ffffff, #1d2024); --ink: light-dark(#1f2328, #e3e5e8);
  --soft: light-dark(#5b636d, #9aa3ad); --line: light-dark(#e3e0da, #31363d); --wash: light-dark(#f1efea, #262a30);
  --blue: light-dark(#1f5fa8, #7db4f0); --green: light-dark(#1d7443, #63c48c); --red: light-dark(#b02f26, #f08c83);
  --amber: light-dark(#8a5a06, #e0b35a);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
a { color: var(--blue); text-underline-offset: 2px; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.soft { color: var(--soft); }
body { max-width: 84rem; margin: 0 auto; padding: 28px clamp(16px, 4vw, 48px) 64px; }
header { display: flex; flex-wrap: wrap; gap: 12px 48px; align-items: end; border-bottom: 1px solid var(--line); padding-bottom: 20px; }
h1 { font-size: 24px; margin: 0 0 2px; } header p { margin: 0; }
#state { margin-left: auto; font-size: 13px; color: var(--soft); } #state.lost { color: var(--red); }
dl { display: flex; gap: 32px; margin: 0; }
dl div { display: flex; flex-direction: column; } dt { font-size: 12px; color: var(--soft); }
dd { margin: 0; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums; }
h2 { font-size: 16px; margin: 32px 0 12px; } h2 .soft { font-weight: 400; font-size: 13px; margin-left: 6px; }
#servers:not(:empty) { margin-bottom: 12px; }
#servers, #pools { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 12px; }
.pool { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; min-width: 0; }
.pool h3 { margin: 0 0 10px; font-size: 15px; display: flex; gap: 10px; justify-content: space-between; overflow-wrap: anywhere; }
.pool h3 .soft { font-weight: 400; font-size: 13px; }
.pool p { margin: 10px 0 0; font-size: 13px; color: var(--soft); font-variant-numeric: tabular-nums; }
.cells { display: flex; flex-wrap: wrap; gap: 5px; }
.cells i { width: 16px; height: 16px; border-radius: 4px; border: 2px solid var(--line); }
.cells .busy { background: var(--blue); border-color: var(--blue); }
.cells .idle { border-color: var(--blue); }
.cells .free { border-style: dashed; }
.runs { display: grid; grid-template-columns: repeat(auto-fill, minmax(164px, 1fr)); gap: 12px; }
#next { font-size: 13px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; font-size: 13px; }
article p { margin: 0; padding: 0 12px; overflow-wrap: anywhere; }
article .line { display: flex; justify-content: space-between; gap: 8px; padding-top: 8px; font-variant-numeric: tabular-nums; }
.words { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; min-height: 3em; }
article p:last-child { padding-bottom: 10px; font-size: 12px; font-variant-numeric: tabular-nums; }
.frame { aspect-ratio: 1; background: var(--wash); display: grid; place-content: center; justify-items: center; gap: 10px; padding: 12px; position: relative; }
.frame img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.sign { font-size: 34px; line-height: 1; color: var(--soft); }
.doing { font-size: 12px; color: var(--soft); min-height: 1.5em; text-align: center; }
progress { appearance: none; width: 112px; height: 6px; border: 0; border-radius: 3px; overflow: hidden; background: var(--line); }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--blue); } progress::-moz-progress-bar { background: var(--blue); }
.good b { color: var(--green); } .bad b, .bad .sign { color: var(--red); } .odd b, .odd .sign { color: var(--amber); } .work b, .work .sign { color: var(--blue); }
@media (prefers-reduced-motion: no-preference) { progress::-webkit-progress-value { transition: width .4s linear; } }
`;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Local run service</title>
    <link rel="icon" href="data:," />
    <style>${DASHBOARD_STYLE}</style>
  </head>
  <body>
    <header>
      <div>
        <h1>Local run service</h1>
        <p class="soft"><span id="behaviour"></span></p>
      </div>
      <dl id="figures"></dl>
      <p id="state" role="status"></p>
    </header>
    <main>
      <section aria-labelledby="machines-title">
        <h2 id="machines-title">Machines</h2>
        <div id="servers"></div>
        <div id="pools"></div>
      </section>
      <section aria-labelledby="work-title">
        <h2 id="work-title">Running <span class="soft" id="work-count"></span></h2>
        <div class="runs" id="atWork"></div>
        <p class="soft" id="next"></p>
      </section>
      <section aria-labelledby="ended-title">
        <h2 id="ended-title">Last ended</h2>
        <div class="runs" id="ended"></div>
      </section>
    </main>
    <noscript><p>This page needs JavaScript to show the runs.</p></noscript>
    <script type="module">${LIVE_SCRIPT}</script>
  </body>
</html>`;

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceOf(DASHBOARD_STYLE)}`,
  "img-src 'self' data:",
  `script-src ${sourceOf(LIVE_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const sendDashboard = (reply: FastifyReply): FastifyReply =>
  reply
    .headers({
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .type('text/html; charset=utf-8')
    .send(PAGE);
