// The enlarged view of a pair. While the space bar is held, B is shown in the place of A.

import { Button, html, Lines, NewTab, Section, Terms, toneOf, useState, useWindow } from './parts.js';
import { kindOf, LargeFile, Picture } from './files.js';
import { addressOf, Changes, NoFile, PairBadge, reportOf, SideMark, SIDES } from './pairs.js';
import { ifPaid, span } from './text.js';
import { Viewer } from './viewer.js';

/** @import { ComparisonFacts, ShownHalf, ShownPair } from '../comparison-page.ts' */

const MODES = [
  { mode: 'beside', label: 'Beside', hint: '' },
  { mode: 'slider', label: 'Slider', hint: 'drag over the picture: A left, B right' },
  { mode: 'blink', label: 'Blink', hint: 'hold the space bar, or press the picture, to see B' },
  { mode: 'difference', label: 'Difference', hint: 'black: no difference · press: brighter' },
];

/** @param {{ facts: ComparisonFacts, order: readonly ShownPair[], place: number, go: (place: number) => void, onClose: () => void }} props */
export function PairView({ facts, order, place, go, onClose }) {
  const pair = /** @type {ShownPair} */ (order[place]);
  const { key } = pair;
  const [wanted, setMode] = useState('beside');
  const [isHeld, hold] = useState(false);
  const [isBright, setBright] = useState(false);
  const [chosen, setChosen] = useState({ key, file: 0 });
  const file = chosen.key === key ? chosen.file : 0;
  const [a = '', b = ''] = SIDES.map((side) => addressOf(facts, side, pair[side], file));
  const arePictures = kindOf(a) === 'picture' && kindOf(b) === 'picture';
  const mode = !arePictures ? 'beside' : isHeld ? 'blink' : wanted;
  useWindow(['blur', 'pointerup'], () => hold(false));
  const onKey = (pressed) => {
    const next = MODES[Number(pressed) - 1]?.mode;
    if (pressed === ' ') hold(arePictures);
    else if (next !== undefined && arePictures) setMode(next);
    else return false;
    return true;
  };
  const onPress = () => {
    if (mode === 'blink') hold(true);
    else if (mode === 'difference') setBright(!isBright);
  };
  const half = (side, nth) => {
    const path = [a, b][nth];
    const shown = path
      ? html`<${LargeFile} path=${path} label="${side.toUpperCase()}: ${key}" />`
      : html`<${NoFile} half=${pair[side]} />`;
    const name = facts.sums.gpu[side] || facts[side].batch;
    return html`<figure class="half" key=${side}>${shown}<figcaption class="note wrap"><${SideMark} side=${side} />${name}</figcaption></figure>`;
  };
  const button = ({ mode: one, label }, nth) =>
    html`<${Button} name="button chip" title="key ${nth + 1}" data-mode=${one} aria-pressed=${one === mode}
      disabled=${!arePictures && one !== 'beside'} onClick=${() => setMode(one)}>${label}<//>`;
  const modes = html`<div id="modes" class="wrap" role="group" aria-label="How the pictures are shown">
    ${MODES.map(button)}<span class="hint note">${MODES.find((one) => one.mode === mode)?.hint}</span>
  </div>`;
  const over = html`<${Overlay} key=${a} ...${{ mode, a, b, isHeld, isBright }} label=${key} />`;
  const pathsOf = (near) => SIDES.map((side) => addressOf(facts, side, near[side]) ?? '');
  const { files: most } = pair.a.files.length > pair.b.files.length ? pair.a : pair.b;
  return html`<${Viewer} ...${{ place, go, onClose, onKey, onPress, file, modes }} length=${order.length} name=${key}
    paths=${(one) => order.slice(one, one + 1).flatMap(pathsOf)} onKeyUp=${(pressed) => pressed === ' ' && hold(false)}
    setFile=${(nth) => setChosen({ key, file: nth })} stageName="" files=${most.map((_, nth) => `${nth + 1}`)}
    stage=${mode === 'beside' ? SIDES.map(half) : over} side=${html`<${PairSide} facts=${facts} pair=${pair} />`} />`;
}

/** @type {readonly (readonly [string, (half: ShownHalf) => string])[]} */
const LINES = [
  ['Outcome', ({ outcome }) => outcome],
  ['GPU', ({ gpu }) => gpu || '–'],
  ['Run', ({ seconds }) => (seconds > 0 ? span(seconds) : '–')],
  ['Cost', ({ cost }) => ifPaid(cost) || '–'],
  ['Attempts', ({ attempts }) => String(attempts)],
];

/** @param {{ facts: ComparisonFacts, pair: ShownPair }} props */
function PairSide({ facts, pair }) {
  const lines = LINES.map(([label, text]) => {
    const differs = text(pair.a) !== text(pair.b);
    const cell = (side) => (differs ? html`<b>${text(pair[side])}</b>` : text(pair[side]));
    const outcome = (side) => (label === 'Outcome' ? pair[side].outcome : '');
    return [label, ...SIDES.map((side) => ({ text: cell(side), outcome: outcome(side) }))];
  });
  const mark = (side) => html`<span title=${facts[side].batch}><${SideMark} side=${side} /></span>`;
  const link = (side) =>
    html`<${NewTab} href=${reportOf(facts, side, pair.key)} name="button" text="Row in report ${side.toUpperCase()}" />`;
  return html`<h2>${pair.key}</h2>
    <p class="facts">row ${pair.a.row} of A, row ${pair.b.row} of B <${PairBadge} pair=${pair} /></p>
    <${Lines} heads=${['', ...SIDES.map(mark)]} lines=${lines} />
    ${SIDES.map((side) => pair[side].reason !== '' && html`<p class="reason box" style=${toneOf('failed')}><${SideMark} side=${side} /> ${pair[side].reason}</p>`)}
    <${Section} title="Inputs that differ" isEmpty=${pair.changes.length === 0}><${Changes} pair=${pair} most=${pair.changes.length} name="lined" /><//>
    <${Section} title="Other inputs" isEmpty=${pair.inputs.length === 0}><${Terms} name="cells lined" entries=${pair.inputs} /><//>
    ${SIDES.flatMap((side) => pair[side].texts.map((text) => html`<pre tabindex="0"><${SideMark} side=${side} />${'\n'}${text}</pre>`))}
    <div class="actions wrap">${SIDES.map(link)}</div>`;
}

/** Two pictures over each other; the browser computes their difference. @param {{ mode: string, a: string, b: string, label: string, isHeld: boolean, isBright: boolean }} props */
function Overlay({ mode, a, b, label, isHeld, isBright }) {
  const [share, setShare] = useState(50);
  const [larger, setLarger] = useState({ area: 0, ratio: 1 });
  const measure = ({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => {
    const area = width * height;
    setLarger((known) => (area > known.area ? { area, ratio: width / height } : known));
  };
  const picture = (side, src) =>
    html`<${Picture} key=${src} class="over-${side}" src=${src} alt="${side.toUpperCase()}: ${label}" draggable=${false} onLoad=${measure} />`;
  // The arrow keys go to the neighbours again when the pointer has moved it.
  const handle = html`<input type="range" class="handle" step="0.1" value=${share} aria-label="How much of A is shown"
    onInput=${({ target }) => setShare(Number(target.value))} onPointerUp=${({ target }) => target.closest('dialog').focus()} />`;
  return html`<div class="overlay ${mode} ${isHeld ? 'held' : ''} ${isBright ? 'bright' : ''}"
    style=${{ '--at': `${share}%`, '--ratio': larger.ratio }}>
    ${picture('a', a)}${picture('b', b)}${mode === 'blink' && SIDES.map((side) => html`<${SideMark} side=${side} />`)}${mode === 'slider' && handle}
  </div>`;
}
