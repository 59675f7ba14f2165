// The enlarged view of a pair. Arrow keys go to its neighbours in the order shown; while the space bar is held, B is shown in the
// place of A.

import { at, button, make } from './dom.js';
import { money, span } from './text.js';
import { kindOf, largeView } from './media.js';
import { addressOf, changeList, noFile, pairBadge, sideMark } from './pair-card.js';
import { overlayOf } from './overlay.js';
import { SIDES } from './pair-list.js';

/** @import { Facts, Half, Pair, Side } from './pair-list.js' */
/** @typedef {'beside' | 'slider' | 'blink' | 'difference'} Mode */

/** @type {readonly { mode: Mode, label: string, key: string, hint: string }[]} */
const MODES = [
  { mode: 'beside', label: 'Beside', key: '1', hint: '' },
  { mode: 'slider', label: 'Slider', key: '2', hint: 'drag over the picture: A left, B right' },
  { mode: 'blink', label: 'Blink', key: '3', hint: 'hold the space bar, or press the picture, to see B' },
  { mode: 'difference', label: 'Difference', key: '4', hint: 'black: no difference · press: brighter' },
];

export class PairView {
  #facts;
  #order;
  #onClose;
  #dialog = /** @type {HTMLDialogElement} */ (at('enlarged'));
  #place = 0;
  #file = 0;
  /** @type {Mode} */
  #mode = 'beside';
  /** @type {Mode | undefined} the one to which the space bar returns */
  #held;
  /** @type {HTMLImageElement[]} */
  ahead = [];

  /**
   * @param {Facts} facts
   * @param {() => readonly Pair[]} order
   * @param {(place: number) => void} onClose
   */
  constructor(facts, order, onClose) {
    this.#facts = facts;
    this.#order = order;
    this.#onClose = onClose;
    this.#dialog.addEventListener('close', () => {
      at('stage').replaceChildren();
      this.ahead = [];
      history.replaceState(undefined, '', location.pathname + location.search);
      this.#onClose(this.#place);
    });
    this.#dialog.addEventListener('keydown', (event) => this.#onKey(event));
    this.#dialog.addEventListener('keyup', (event) => {
      if (event.key === ' ') this.#release();
    });
    addEventListener('blur', () => this.#release());
    at('stage').addEventListener('pointerdown', () => this.#onPress());
    addEventListener('pointerup', () => this.#release());
    at('close').onclick = () => this.#dialog.close();
    at('before').onclick = () => this.#go(-1);
    at('after').onclick = () => this.#go(1);
  }

  /** @param {number} place */
  open(place) {
    this.#place = place;
    this.#file = 0;
    if (!this.#dialog.open) this.#dialog.showModal();
    history.replaceState(undefined, '', `#${encodeURIComponent(this.#pair.key)}`);
    this.#draw();
    this.#drawSide();
    this.ahead = [1, -1].flatMap((by) => {
      const pair = this.#order()[place + by];
      return SIDES.flatMap((side) => {
        const src = pair === undefined ? undefined : addressOf(this.#facts, side, pair[side]);
        return src !== undefined && kindOf(src) === 'picture' ? [Object.assign(new Image(), { src })] : [];
      });
    });
    this.#dialog.focus();
  }

  get #pair() {
    return /** @type {Pair} */ (this.#order()[this.#place]);
  }

  /** @param {number} by */
  #go(by) {
    if (this.#order()[this.#place + by] !== undefined) this.open(this.#place + by);
  }

  /** Both pictures, if both halves have one. */
  get #pictures() {
    const [a, b] = SIDES.map((side) => addressOf(this.#facts, side, this.#pair[side], this.#file));
    return a !== undefined && b !== undefined && kindOf(a) === 'picture' && kindOf(b) === 'picture'
      ? { a, b }
      : undefined;
  }

  #draw() {
    const pictures = this.#pictures;
    const mode = pictures === undefined ? 'beside' : this.#mode;
    const stage = at('stage');
    stage.className = mode === 'beside' ? 'beside' : '';
    if (pictures !== undefined && mode !== 'beside')
      stage.replaceChildren(overlayOf(mode, pictures.a, pictures.b, this.#pair.key));
    else stage.replaceChildren(...SIDES.map((side) => this.#half(side)));
    const hint = MODES.find((one) => one.mode === mode)?.hint ?? '';
    at('modes').replaceChildren(
      ...MODES.map(({ mode: one, label, key }) => {
        const choice = button(label, () => this.#choose(one), 'mode');
        choice.disabled = pictures === undefined && one !== 'beside';
        choice.title = `key ${key}`;
        choice.setAttribute('aria-pressed', String(one === mode));
        choice.dataset['mode'] = one;
        return choice;
      }),
      make('span', 'hint', hint),
    );
    const files = Math.max(...SIDES.map((side) => this.#pair[side].files.length));
    at('strip').replaceChildren(
      ...(files < 2 ? [] : Array.from({ length: files }, (_, nth) => this.#stripItem(nth))),
    );
    /** @type {HTMLButtonElement} */ (at('before')).disabled = this.#place === 0;
    /** @type {HTMLButtonElement} */ (at('after')).disabled = this.#place === this.#order().length - 1;
    at('position').textContent = `${this.#place + 1} of ${this.#order().length}`;
  }

  /** @param {Side} side */
  #half(side) {
    const half = this.#pair[side];
    const path = addressOf(this.#facts, side, half, this.#file);
    const name = this.#facts.sums.gpu[side] || this.#facts[side].batch;
    return make(
      'figure',
      'half',
      path === undefined ? noFile(half) : largeView(path, `${side.toUpperCase()}: ${this.#pair.key}`),
      make('figcaption', '', sideMark(side), name),
    );
  }

  /** @param {number} nth */
  #stripItem(nth) {
    const item = button(String(nth + 1), () => {
      this.#file = nth;
      this.#draw();
    });
    item.className = nth === this.#file ? 'mode chosen' : 'mode';
    item.setAttribute('aria-label', `file ${nth + 1}`);
    return item;
  }

  /** @param {Mode} mode */
  #choose(mode) {
    this.#mode = mode;
    this.#draw();
    this.#dialog.focus();
  }

  #drawSide() {
    const pair = this.#pair;
    const badge = pairBadge(pair);
    at('side').replaceChildren(
      make('h2', '', pair.key),
      make('p', 'facts', `row ${pair.a.row} of A, row ${pair.b.row} of B `, badge),
      sideTable(this.#facts, pair),
      ...SIDES.filter((side) => pair[side].reason !== '').map((side) =>
        make('p', 'reason', sideMark(side), pair[side].reason),
      ),
      make(
        'section',
        { hidden: pair.changes.length === 0 },
        make('h3', '', 'Inputs that differ'),
        changeList(pair, pair.changes.length),
      ),
      make(
        'section',
        { hidden: pair.inputs.length === 0 },
        make('h3', '', 'Other inputs'),
        make(
          'dl',
          'cells',
          ...pair.inputs.map(([name, value]) => make('div', '', make('dt', '', name), make('dd', '', value))),
        ),
      ),
      ...SIDES.flatMap((side) =>
        pair[side].texts.map((text) => make('pre', '', sideMark(side), `\n${text}`)),
      ),
      make(
        'div',
        'actions',
        ...SIDES.map((side) =>
          make(
            'a',
            {
              className: 'button',
              href: `${this.#facts[side].base}report.html#${encodeURIComponent(pair.key)}`,
              target: '_blank',
              rel: 'noopener',
            },
            `Row in report ${side.toUpperCase()}`,
          ),
        ),
      ),
    );
  }

  #onPress() {
    const overlay = at('stage').querySelector('.overlay');
    if (this.#mode === 'blink') overlay?.classList.add('held');
    else if (this.#mode === 'difference') overlay?.classList.toggle('bright');
  }

  /** The space bar blinks in every mode. */
  #hold() {
    if (this.#held !== undefined || this.#pictures === undefined) return;
    this.#held = this.#mode;
    if (this.#mode !== 'blink') {
      this.#mode = 'blink';
      this.#draw();
    }
    at('stage').querySelector('.overlay')?.classList.add('held');
  }

  #release() {
    at('stage').querySelector('.overlay')?.classList.remove('held');
    const before = this.#held;
    this.#held = undefined;
    if (before === undefined || before === this.#mode) return;
    this.#mode = before;
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLMediaElement) return;
    const mode = MODES.find(({ key }) => key === event.key)?.mode;
    const isRange = event.target instanceof HTMLInputElement;
    if (event.key === 'ArrowLeft' && !isRange) this.#go(-1);
    else if (event.key === 'ArrowRight' && !isRange) this.#go(1);
    else if (event.key === ' ') this.#hold();
    else if (mode !== undefined && this.#pictures !== undefined) this.#choose(mode);
    else return;
    event.preventDefault();
  }
}

/**
 * @param {Facts} facts
 * @param {Pair} pair
 */
function sideTable(facts, pair) {
  /** @type {[string, (half: Half) => string][]} */
  const lines = [
    ['Outcome', ({ outcome }) => outcome],
    ['GPU', ({ gpu }) => gpu || '–'],
    ['Run', ({ seconds }) => (seconds > 0 ? span(seconds) : '–')],
    ['Cost', ({ cost }) => money(cost)],
    ['Attempts', ({ attempts }) => String(attempts)],
  ];
  return make(
    'table',
    'side-table',
    make(
      'thead',
      '',
      make(
        'tr',
        '',
        make('th'),
        ...SIDES.map((side) => make('th', { title: facts[side].batch }, sideMark(side))),
      ),
    ),
    make(
      'tbody',
      '',
      ...lines.map(([label, text]) =>
        make(
          'tr',
          text(pair.a) === text(pair.b) ? '' : 'differs',
          make('th', '', label),
          ...SIDES.map((side) => make('td', label === 'Outcome' ? pair[side].outcome : '', text(pair[side]))),
        ),
      ),
    ),
  );
}
