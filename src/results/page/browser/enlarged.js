// The enlarged view of a row: its files, all of its cells and its attempts. Arrow keys go to its neighbours in the order shown.

import { at, button, copyButton, make } from './dom.js';
import { shellWord } from './text.js';
import { kindOf, largeView } from './media.js';
import { factsOf } from './cards.js';
import { attemptList, cellList, fileList, pickBar } from './row-parts.js';

/** @import { Source } from './cards.js' */
/** @import { Detail } from './details.js' */

/** @typedef {{ order: () => Uint32Array, onClose: (place: number) => void, onPick: (place: number) => void }} Around */

export class Enlarged {
  #source;
  #around;
  #dialog = /** @type {HTMLDialogElement} */ (at('enlarged'));
  #place = 0;
  #file = 0;
  /** @type {Detail | undefined} */
  #detail;
  /** Neighbours that are loaded in advance.
   * @type {HTMLImageElement[]}
   */
  ahead = [];

  /**
   * @param {Source} source
   * @param {Around} around
   */
  constructor(source, around) {
    this.#source = source;
    this.#around = around;
    this.#dialog.addEventListener('close', () => {
      at('stage').replaceChildren();
      this.ahead = [];
      history.replaceState(undefined, '', location.pathname + location.search);
      around.onClose(this.#place);
    });
    this.#dialog.addEventListener('keydown', (event) => this.#onKey(event));
    at('stage').addEventListener('click', (event) => this.#onClick(event));
    at('close').onclick = () => this.#dialog.close();
    at('before').onclick = () => this.#go(-1);
    at('after').onclick = () => this.#go(1);
    swipe(at('stage'), (by) => this.#go(by));
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** @param {number} place */
  open(place) {
    this.#place = place;
    this.#file = 0;
    this.#detail = undefined;
    if (!this.#dialog.open) this.#dialog.showModal();
    const row = this.#row;
    const { table, read } = this.#source;
    history.replaceState(undefined, '', `#${encodeURIComponent(table.key[row] ?? '')}`);
    this.#drawStage();
    this.#drawSide();
    void read(row).then((detail) => {
      if (row !== this.#row || detail === undefined) return;
      this.#detail = detail;
      if (detail.files.length > 1) this.#drawStage();
      this.#drawSide();
    });
    this.#preload();
  }

  get #row() {
    return this.#around.order()[this.#place] ?? 0;
  }

  /** @param {number} by */
  #go(by) {
    const place = this.#place + by;
    if (place >= 0 && place < this.#around.order().length) this.open(place);
  }

  #preload() {
    const order = this.#around.order();
    const paths = [1, -1, 2].map((by) => this.#source.table.file[order[this.#place + by] ?? -1] ?? '');
    this.ahead = paths
      .filter((path) => kindOf(path) === 'picture')
      .map((src) => Object.assign(new Image(), { src }));
  }

  #drawStage() {
    const { table } = this.#source;
    const row = this.#row;
    const files = this.#detail?.files.map(({ path }) => path) ?? [table.file[row] ?? ''].filter(Boolean);
    const path = files[this.#file];
    const stage = at('stage');
    stage.classList.remove('actual');
    const outcome = table.outcomeName(row);
    if (path === undefined)
      stage.replaceChildren(
        make(
          'div',
          `no-picture ${outcome}`,
          make('b', '', outcome),
          make('span', '', table.reason[row] ?? ''),
        ),
      );
    else stage.replaceChildren(largeView(path, `${table.key[row] ?? ''}: ${table.caption(row)}`));
    const strip = files.length < 2 ? [] : files.map((one, nth) => this.#stripItem(one, nth));
    at('strip').replaceChildren(...strip);
    const order = this.#around.order();
    /** @type {HTMLButtonElement} */ (at('before')).disabled = this.#place === 0;
    /** @type {HTMLButtonElement} */ (at('after')).disabled = this.#place === order.length - 1;
    at('position').textContent = `${this.#place + 1} of ${order.length}`;
  }

  /**
   * @param {string} path
   * @param {number} nth
   */
  #stripItem(path, nth) {
    const item = button('', () => {
      this.#file = nth;
      this.#drawStage();
    });
    item.className = nth === this.#file ? 'thumb chosen' : 'thumb';
    item.setAttribute('aria-label', `file ${nth + 1}`);
    if (kindOf(path) === 'picture') item.append(make('img', { src: path, alt: '', loading: 'lazy' }));
    else item.append(path.split('.').at(-1) ?? '');
    return item;
  }

  #drawSide() {
    const { table, picks } = this.#source;
    const row = this.#row;
    const key = table.key[row] ?? `row ${row + 1}`;
    const outcome = table.outcomeName(row);
    at('side').replaceChildren(
      make('h2', '', table.title(row)),
      make(
        'p',
        `facts ${outcome}`,
        `row ${row + 1} · ${outcome === 'succeeded' ? 'succeeded · ' : ''}${factsOf(table, row)}`,
      ),
      pickBar(picks.of(key), (choice) => this.#choose(choice)),
      ...(this.#detail === undefined ? [] : this.#detailParts(this.#detail, row)),
    );
  }

  /**
   * @param {Detail} detail
   * @param {number} row
   */
  #detailParts(detail, row) {
    const { inputs, data, more = 0, reason, attempts, files, texts = [], reused } = detail;
    const { batch } = this.#source.table.facts;
    const retry = `runsheet retry ${shellWord(batch)} --row ${row + 1}`;
    const path = files[this.#file]?.path;
    return [
      ...(reason === undefined ? [] : [make('p', 'reason', reason)]),
      ...(reused === undefined ? [] : [make('p', 'note', `Reused from ${reused}; not bought again.`)]),
      cellList('Inputs', inputs),
      cellList('Other columns', data),
      ...(more === 0 ? [] : [make('p', 'note', `${more} more cells are in results.jsonl.`)]),
      ...texts.map((text) => make('pre', '', text)),
      make(
        'div',
        'actions',
        ...(path === undefined
          ? []
          : [
              copyButton('Copy path', path),
              make('a', { className: 'button', href: path, target: '_blank', rel: 'noopener' }, 'Open file'),
            ]),
        copyButton('Copy retry command', retry),
        copyButton('Copy link', location.href),
      ),
      ...(attempts.length === 0 ? [] : [attemptList(attempts)]),
      ...(files.length === 0 ? [] : [fileList(files)]),
    ];
  }

  /** @param {'picked' | 'rejected' | number} choice */
  #choose(choice) {
    const { table, picks } = this.#source;
    picks.toggle(table.key[this.#row] ?? '', choice);
    this.#around.onPick(this.#place);
    this.#drawSide();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLMediaElement) return;
    const key = event.key.toLowerCase();
    if (key === 'arrowleft') this.#go(-1);
    else if (key === 'arrowright') this.#go(1);
    else if (key === 'p') this.#choose('picked');
    else if (key === 'x') this.#choose('rejected');
    else if (/^[1-5]$/.test(key)) this.#choose(Number(key));
    else if (key === 'z') at('stage').classList.toggle('actual');
    else return;
    event.preventDefault();
  }

  /** A click on the picture shows its own size, at the place of the click.
   * @param {MouseEvent} event
   */
  #onClick(event) {
    const stage = at('stage');
    if (event.target === stage) return void this.#dialog.close();
    if (!(event.target instanceof HTMLImageElement)) return;
    const box = event.target.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    stage.classList.toggle('actual');
    stage.scrollTo(
      x * event.target.offsetWidth - stage.clientWidth / 2,
      y * event.target.offsetHeight - stage.clientHeight / 2,
    );
  }
}

/**
 * @param {HTMLElement} element
 * @param {(by: number) => void} go
 */
function swipe(element, go) {
  let from = 0;
  element.addEventListener('touchstart', (event) => (from = event.touches[0]?.clientX ?? 0), {
    passive: true,
  });
  element.addEventListener('touchend', (event) => {
    const way = (event.changedTouches[0]?.clientX ?? 0) - from;
    if (Math.abs(way) > 60 && !element.classList.contains('actual')) go(way < 0 ? 1 : -1);
  });
}
