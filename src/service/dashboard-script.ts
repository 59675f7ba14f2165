// The dashboard's script, which runs in a browser. All data becomes text or the address of a picture of this service, never markup.

export const LIVE_SCRIPT = `
const at = (id) => document.getElementById(id);
const put = (parent, tag, className, text) => {
  const element = parent.appendChild(document.createElement(tag));
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
// Only changes are written, so that selection, focus and pictures are kept.
const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };
const mark = (element, className) => { if (element.className !== className) element.className = className; };

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

/** Makes the children of a list those of the items, in their order, each made once and drawn again. */
const keyed = (parent, items, keyOf, make, draw) => {
  parent.known ??= new Map();
  const keys = new Set(items.map(keyOf));
  for (const [key, element] of parent.known) if (!keys.has(key)) { element.remove(); parent.known.delete(key); }
  items.forEach((item, index) => {
    const key = keyOf(item);
    let element = parent.known.get(key);
    if (!element) { element = make(item); parent.known.set(key, element); }
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
    draw(element, item);
  });
};

const makePool = () => {
  const row = document.createElement('div');
  row.className = 'pool';
  const head = put(row, 'h3');
  row.parts = { name: put(head, 'span'), gpu: put(head, 'span', 'soft'), cells: put(row, 'div', 'cells'), words: put(row, 'p') };
  row.parts.cells.setAttribute('aria-hidden', 'true');
  return row;
};
const CELLS_MAX = 64;
const drawPool = ({ parts }, pool) => {
  say(parts.name, pool.name);
  say(parts.gpu, pool.gpu);
  say(parts.words, pool.busy + ' running, ' + pool.idle + ' warm, at most ' + pool.limit + (pool.waiting > 0 ? '; ' + count(pool.waiting) + ' queued' : ''));
  const cells = Array.from({ length: Math.min(pool.limit, CELLS_MAX) }, (_, index) => index < pool.busy ? 'busy' : index < pool.busy + pool.idle ? 'idle' : 'free');
  while (parts.cells.children.length > cells.length) parts.cells.lastChild.remove();
  cells.forEach((kind, index) => mark(parts.cells.children[index] ?? put(parts.cells, 'i'), kind));
};

const drawBar = (parts, parent, run) => {
  parts.bar ??= put(parent, 'progress');
  parts.bar.setAttribute('aria-label', 'progress of run ' + run.number);
  parts.bar.max = 1;
  if (parts.bar.value !== run.progress) parts.bar.value = run.progress;
};

const makeServer = () => {
  const row = document.createElement('div');
  row.className = 'pool';
  const head = put(row, 'h3');
  row.parts = { name: put(head, 'span'), gpu: put(head, 'span', 'soft'), state: put(row, 'p'), doing: put(row, 'p') };
  return row;
};
const SERVER_KINDS = { busy: 'work', idle: 'good', away: 'bad', asked: 'odd' };
const SERVER_WORDS = { busy: 'busy', idle: 'idle', away: 'does not answer', asked: 'has not answered yet' };
const drawServer = ({ parts }, server) => {
  say(parts.name, server.name);
  say(parts.gpu, [server.gpu, server.version && 'ComfyUI ' + server.version].filter(Boolean).join(' \u00B7 '));
  mark(parts.state, SERVER_KINDS[server.state]);
  parts.words ??= put(parts.state, 'b');
  parts.since ??= put(parts.state, 'span');
  say(parts.words, SERVER_WORDS[server.state]);
  say(parts.since, (server.seconds === null ? '' : ' for ' + span(server.seconds)) + (server.reason ? ': ' + server.reason : ''));
  const { run } = server;
  say(parts.doing, run === null ? '' : '#' + run.number + ' ' + run.deployment + (run.doing ? ': ' + run.doing : ''));
  if (run === null) { parts.bar?.remove(); parts.bar = undefined; return; }
  drawBar(parts, parts.doing.parentNode, run);
};

const makeRun = (run) => {
  const card = document.createElement('article');
  const frame = put(card, 'div', 'frame');
  const sign = put(frame, 'span', 'sign');
  sign.setAttribute('aria-hidden', 'true');
  const line = put(card, 'p', 'line');
  card.parts = { frame, sign, status: put(line, 'b'), number: put(line, 'span', 'soft'), words: put(card, 'p', 'words'), facts: put(card, 'p', 'soft') };
  card.title = run.id;
  return card;
};
const drawRun = (card, run) => {
  const { parts } = card;
  const [kind, sign, words] = kindOf(run.status);
  mark(card, kind);
  say(parts.sign, sign);
  say(parts.status, (run.picture ? sign + ' ' : '') + words);
  say(parts.number, '#' + run.number);
  say(parts.words, run.words);
  say(parts.facts, [run.deployment, run.gpu, span(run.seconds)].join(' \\u00B7 '));
  drawProgress(card, run, kind);
  if (run.picture && !parts.picture) {
    parts.picture = put(parts.frame, 'img');
    parts.picture.alt = 'picture of run ' + run.number;
    parts.picture.width = parts.picture.height = 160;
    parts.picture.src = run.picture;
    parts.sign.remove();
  }
};
const drawProgress = ({ parts }, run, kind) => {
  if (kind !== 'work') { parts.bar?.remove(); parts.bar = undefined; parts.doing?.remove(); parts.doing = undefined; return; }
  parts.doing ??= put(parts.frame, 'span', 'doing');
  drawBar(parts, parts.frame, run);
  say(parts.doing, run.doing);
};

const figure = (name, value) => ({ name, value });
const makeFigure = ({ name }) => {
  const box = document.createElement('div');
  box.value = put(box, 'dd');
  put(box, 'dt', '', name);
  return box;
};

const draw = (live) => {
  const sum = (name) => live.pools.reduce((total, pool) => total + pool[name], 0);
  const figures = [figure('queued', sum('waiting')), figure('running', sum('busy')), figure('warm', sum('idle')), figure('runs in total', live.runs)];
  keyed(at('figures'), figures, ({ name }) => name, makeFigure, (box, { value }) => say(box.value, count(value)));
  say(at('behaviour'), 'Behaviour: ' + live.behaviour + '.');
  keyed(at('servers'), live.servers, ({ name }) => name, makeServer, drawServer);
  keyed(at('pools'), live.pools, ({ name }) => name, makePool, drawPool);
  keyed(at('atWork'), live.atWork, ({ id }) => id, makeRun, drawRun);
  const more = sum('busy') - live.atWork.length;
  say(at('work-count'), more > 0 ? 'the first ' + live.atWork.length + ' of ' + count(sum('busy')) : live.atWork.length === 0 ? 'nothing' : '');
  say(at('next'), live.next.length === 0 ? '' : 'Next in the queue: ' + live.next.map((run) => '#' + run.number + ' ' + run.words).join(' \\u00B7 '));
  keyed(at('ended'), live.ended, ({ id }) => id, makeRun, drawRun);
};

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
    mark(at('state'), 'fine');
    say(at('state'), '\\u25CF live');
  } catch {
    mark(at('state'), 'lost');
    say(at('state'), '\\u25CC the service does not answer; the page is out of date');
  }
  timer = setTimeout(look, EVERY_MS);
};
document.addEventListener('visibilitychange', look);
look();
`;
