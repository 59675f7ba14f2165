// The enlarged view of a pair. While the space bar is held, B is shown in the place of A.

import { at, button, make, newTab, section, tableOf, termList } from './dom.js';
import { money, span } from './text.js';
import { kindOf, largeView } from './media.js';
import { addressOf, changeList, noFile, pairBadge, reportOf, sideMark } from './pair-card.js';
import { overlayOf } from './overlay.js';
import { SIDES } from './pair-list.js';
import { Viewer } from './viewer.js';

/** @import { Side } from '../../compare/compared-pair.ts' */
/** @import { ComparisonFacts, ShownHalf, ShownPair } from '../comparison-page.ts' */
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
  #viewer;
  /** @type {Mode} */
  #mode = 'beside';
  /** @type {Mode | undefined} the one to which the space bar returns */
  #held;

  /**
   * @param {ComparisonFacts} facts
   * @param {() => readonly ShownPair[]} order
   * @param {(place: number) => void} onClose
   */
  constructor(facts, order, onClose) {
    this.#facts = facts;
    this.#order = order;
    const pathsOf = (/** @type {ShownPair} */ pair) =>
      SIDES.map((side) => addressOf(facts, side, pair[side]) ?? '');
    this.#viewer = new Viewer({
      length: () => order().length,
      key: (place) => order()[place]?.key ?? '',
      paths: (place) =>
        order()
          .slice(place, place + 1)
          .flatMap(pathsOf),
      draw: () => this.#draw(),
      onKey: (key) => this.#onKey(key),
      onClose,
    });
    const { dialog, stage } = this.#viewer;
    dialog.addEventListener('keyup', ({ key }) => key === ' ' && this.#release());
    stage.addEventListener('pointerdown', () => this.#onPress());
    for (const type of ['blur', 'pointerup']) addEventListener(type, () => this.#release());
  }

  /** @param {number} place */
  open(place) {
    this.#viewer.open(place);
    this.#viewer.dialog.focus();
  }

  get #pair() {
    return /** @type {ShownPair} */ (this.#order()[this.#viewer.place]);
  }

  /** Both pictures, if both halves have one. */
  get #pictures() {
    const [a = '', b = ''] = SIDES.map((side) => this.#address(side));
    return kindOf(a) === 'picture' && kindOf(b) === 'picture' ? { a, b } : undefined;
  }

  /** @param {Side} side */
  #address(side) {
    return addressOf(this.#facts, side, this.#pair[side], this.#viewer.file);
  }

  #draw() {
    const { key, a, b } = this.#pair;
    const pictures = this.#pictures;
    const mode = pictures === undefined ? 'beside' : this.#mode;
    const files = Array.from({ length: Math.max(a.files.length, b.files.length) }, (_, nth) =>
      String(nth + 1),
    );
    this.#viewer.stage.className = mode === 'beside' ? 'beside' : '';
    this.#viewer.show(
      pictures === undefined || mode === 'beside'
        ? SIDES.map((side) => this.#half(side))
        : [overlayOf(mode, pictures, key)],
      files,
    );
    at('modes').replaceChildren(
      ...MODES.map((one) =>
        button(
          'button.chip',
          () => this.#choose(one.mode),
          {
            disabled: pictures === undefined && one.mode !== 'beside',
            title: `key ${one.key}`,
            'aria-pressed': one.mode === mode,
            'data-mode': one.mode,
          },
          one.label,
        ),
      ),
      make('span.hint.note', MODES.find((one) => one.mode === mode)?.hint),
    );
    this.#drawSide();
  }

  /** @param {Side} side */
  #half(side) {
    const path = this.#address(side);
    const { key } = this.#pair;
    return make(
      'figure.half',
      path === undefined ? noFile(this.#pair[side]) : largeView(path, `${side.toUpperCase()}: ${key}`),
      make('figcaption.note.wrap', sideMark(side), this.#facts.sums.gpu[side] || this.#facts[side].batch),
    );
  }

  /** @param {Mode} mode */
  #choose(mode) {
    this.#mode = mode;
    this.#draw();
    this.#viewer.dialog.focus();
  }

  #drawSide() {
    const pair = this.#pair;
    at('side').replaceChildren(
      make('h2', pair.key),
      make('p.facts', `row ${pair.a.row} of A, row ${pair.b.row} of B `, pairBadge(pair)),
      sideTable(this.#facts, pair),
      ...SIDES.filter((side) => pair[side].reason !== '').map((side) =>
        make('p.reason', sideMark(side), pair[side].reason),
      ),
      section('Inputs that differ', changeList(pair, pair.changes.length)),
      section('Other inputs', termList('cells.lined', pair.inputs)),
      ...SIDES.flatMap((side) => pair[side].texts.map((text) => make('pre', sideMark(side), `\n${text}`))),
      make(
        'div.actions.wrap',
        SIDES.map((side) =>
          newTab(reportOf(this.#facts, side, pair.key), 'button', `Row in report ${side.toUpperCase()}`),
        ),
      ),
    );
  }

  get #overlay() {
    return this.#viewer.stage.querySelector('.overlay')?.classList;
  }

  #onPress() {
    if (this.#mode === 'blink') this.#overlay?.add('held');
    else if (this.#mode === 'difference') this.#overlay?.toggle('bright');
  }

  /** The space bar blinks in every mode. */
  #hold() {
    if (this.#held !== undefined || this.#pictures === undefined) return;
    this.#held = this.#mode;
    if (this.#mode !== 'blink') {
      this.#mode = 'blink';
      this.#draw();
    }
    this.#overlay?.add('held');
  }

  #release() {
    this.#overlay?.remove('held');
    const before = this.#held;
    this.#held = undefined;
    if (before === undefined || before === this.#mode) return;
    this.#mode = before;
    this.#draw();
  }

  /** @param {string} key */
  #onKey(key) {
    const mode = MODES.find((one) => one.key === key)?.mode;
    if (key === ' ') this.#hold();
    else if (mode !== undefined && this.#pictures !== undefined) this.#choose(mode);
    else return false;
    return true;
  }
}

/** @type {(facts: ComparisonFacts, pair: ShownPair) => HTMLElement} */
function sideTable(facts, pair) {
  /** @type {[string, (half: ShownHalf) => string][]} */
  const lines = [
    ['Outcome', ({ outcome }) => outcome],
    ['GPU', ({ gpu }) => gpu || '–'],
    ['Run', ({ seconds }) => (seconds > 0 ? span(seconds) : '–')],
    ['Cost', ({ cost }) => money(cost)],
    ['Attempts', ({ attempts }) => String(attempts)],
  ];
  return tableOf(
    ['', ...SIDES.map((side) => make('span', { title: facts[side].batch }, sideMark(side)))],
    lines.map(([label, text]) => [
      label,
      ...SIDES.map((side) => {
        const differs = text(pair.a) === text(pair.b) ? '' : 'differs';
        return make(
          `td.${differs}.${label === 'Outcome' ? `tone.${pair[side].outcome}` : ''}`,
          text(pair[side]),
        );
      }),
    ]),
  );
}
