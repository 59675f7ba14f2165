// The cards of all rows that are shown. Only those near the window are on the page; the others are room. Browsers limit the height
// of an element, so very many rows are shown in blocks.

import { at, button, set } from './dom.js';
import { count } from './text.js';
import { cardOf, DENSITIES, LINE_HEIGHT } from './cards.js';
import { forgetPicture } from './pictures.js';

/** @import { Source } from './cards.js' */

const BLOCK = 10_000;

export class Gallery {
  #source;
  /** @type {Uint32Array} */
  #order = new Uint32Array();
  #density = 1;
  #block = 0;
  #columns = 1;
  #cell = { width: 0, height: 0, step: 0 };
  /** @type {Map<number, HTMLElement>} by place in the order */
  #cards = new Map();
  #focused = 0;
  #width = 0;

  /**
   * @param {Source} source
   * @param {(place: number) => void} onOpen
   */
  constructor(source, onOpen) {
    this.#source = source;
    const grid = at('grid');
    grid.addEventListener('click', (event) => {
      const card = cardAt(event.target);
      if (card === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      onOpen(Number(card.dataset['place']));
    });
    grid.addEventListener('keydown', (event) => this.#onKey(event));
    for (const type of ['mouseover', 'mouseout'])
      grid.addEventListener(type, (event) => {
        const video = cardAt(event.target)?.querySelector('video');
        if (type === 'mouseover') void video?.play().catch(() => undefined);
        else video?.pause();
      });
    addEventListener('scroll', () => requestAnimationFrame(() => this.#fill()), { passive: true });
    new ResizeObserver(() => this.#measure(this.#width === at('grid').clientWidth)).observe(grid);
  }

  get order() {
    return this.#order;
  }

  get density() {
    return this.#density;
  }

  /**
   * @param {Uint32Array} order
   * @param {boolean} isSame whether the viewer looks at the same rows, to which some were added
   */
  show(order, isSame = false) {
    this.#order = order;
    if (!isSame) this.#block = 0;
    if (!isSame) this.#focused = 0;
    this.#measure(isSame);
  }

  /** @param {number} density */
  setDensity(density) {
    this.#density = density;
    this.#measure();
  }

  /** Draws the card of a place again. @param {number} place */
  redraw(place) {
    this.#remove(place);
    this.#fill();
  }

  /** @param {number} place */
  reveal(place) {
    this.#goTo(Math.floor(place / BLOCK));
    const line = Math.floor((place % BLOCK) / this.#columns);
    const top = at('grid').getBoundingClientRect().top + scrollY + line * this.#cell.step;
    const [above, below] = [scrollY + 120, scrollY + innerHeight - this.#cell.height];
    if (top < above || top > below) scrollTo({ top: Math.max(0, top - innerHeight / 3) });
    this.#fill();
    this.#focused = place;
    this.#cards.get(place)?.focus({ preventScroll: true });
  }

  /** @param {boolean} [isSame] cards of rows that have not changed stay */
  #measure(isSame = false) {
    const { least, gap, caption, ratio } = densityOf(this.#density);
    const room = at('grid').clientWidth;
    this.#width = room;
    const isLine = this.#density === 3;
    this.#columns = isLine ? 1 : Math.max(1, Math.floor((room + gap) / (least + gap)));
    const width = Math.floor((room - gap * (this.#columns - 1)) / this.#columns);
    const height = isLine ? LINE_HEIGHT : Math.round(width * ratio) + caption;
    this.#cell = { width, height, step: height + (isLine ? 1 : gap) };
    const shown = Math.min(BLOCK, this.#order.length - this.#block * BLOCK);
    at('grid').style.height = `${Math.max(0, Math.ceil(shown / this.#columns) * this.#cell.step)}px`;
    at('grid').className = `density-${this.#density}`;
    this.#drawBlocks();
    for (const [place, card] of this.#cards)
      if (!isSame || card.dataset['state'] !== this.#stateOf(place)) this.#remove(place);
    this.#fill();
  }

  #fill() {
    const { step } = this.#cell;
    if (step === 0) return;
    const top = -at('grid').getBoundingClientRect().top;
    const first = Math.max(0, Math.floor((top - step / 2) / step)) * this.#columns;
    const last = Math.ceil((top + innerHeight + step / 2) / step) * this.#columns;
    const start = this.#block * BLOCK;
    const end = Math.min(this.#order.length - start, BLOCK, last);
    for (const place of this.#cards.keys())
      if (place < start + first || place >= start + end) this.#remove(place);
    for (let place = start + first; place < start + end; place += 1)
      if (!this.#cards.has(place)) this.#add(place, place - start);
  }

  /**
   * @param {number} place
   * @param {number} here in the block
   */
  #add(place, here) {
    const { width, height, step } = this.#cell;
    const row = this.#order[place] ?? 0;
    const card = cardOf(this.#source, row, this.#density, width, height);
    const left = (here % this.#columns) * (width + densityOf(this.#density).gap);
    const transform = `translate(${left}px, ${Math.floor(here / this.#columns) * step}px)`;
    set(card, {
      'data-place': place,
      'data-state': this.#stateOf(place),
      'aria-posinset': place + 1,
      'aria-setsize': this.#order.length,
      role: 'listitem',
      tabIndex: place === this.#focused ? 0 : -1,
      style: { width: `${width}px`, height: `${height}px`, transform },
    });
    at('grid').append(card);
    this.#cards.set(place, card);
  }

  /** What a card shows depends on this. @param {number} place */
  #stateOf(place) {
    const row = this.#order[place] ?? -1;
    const { outcome, tries } = this.#source.table.of;
    return `${row} ${outcome[row]} ${tries[row]} ${this.#order.length}`;
  }

  /** @param {number} place */
  #remove(place) {
    const card = this.#cards.get(place);
    for (const canvas of card?.querySelectorAll('canvas') ?? []) {
      forgetPicture(canvas);
      canvas.width = 0;
    }
    for (const video of card?.querySelectorAll('video') ?? []) video.removeAttribute('src');
    card?.remove();
    this.#cards.delete(place);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const card = cardAt(event.target);
    if (card === null) return;
    const place = Number(card.dataset['place']);
    const to = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.#columns, ArrowDown: this.#columns }[event.key];
    if (to === undefined || place + to < 0 || place + to >= this.#order.length) return;
    event.preventDefault();
    card.tabIndex = -1;
    this.reveal(place + to);
    const next = this.#cards.get(place + to);
    if (next !== undefined) next.tabIndex = 0;
  }

  /** @param {number} block */
  #goTo(block) {
    if (block === this.#block) return;
    this.#block = block;
    this.#measure();
  }

  #drawBlocks() {
    const blocks = Math.ceil(this.#order.length / BLOCK);
    at('blocks').replaceChildren();
    if (blocks < 2) return;
    const from = this.#block * BLOCK;
    const to = Math.min(from + BLOCK, this.#order.length);
    const step = (/** @type {string} */ label, /** @type {number} */ by) => {
      const block = this.#block + by;
      const go = () => {
        this.#goTo(block);
        at('grid').scrollIntoView();
      };
      return button('button', go, { disabled: block < 0 || block === blocks }, label);
    };
    const text = `${count(from + 1)} to ${count(to)} of ${count(this.#order.length)}`;
    at('blocks').append(step('Previous', -1), text, step('Next', 1));
  }
}

/** @type {(target: EventTarget | null) => HTMLElement | null} */
const cardAt = (target) => (target instanceof Element ? target.closest('.card') : null);

/** @param {number} density */
const densityOf = (density) => DENSITIES[density] ?? DENSITIES[0];
