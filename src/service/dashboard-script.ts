// The dashboard's script, which runs in a browser. All data becomes text or the address of a picture of this service, never markup.

export const LIVE_SCRIPT = `
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
