// The enlarged view that both pages have: a dialog with a stage and a side, whose arrow keys go to the neighbours in the order shown.

import { at, button, fill, make } from './dom.js';
import { kindOf } from './media.js';

/** @import { Child } from './dom.js' */

/**
 * What a page shows in it.
 * @typedef {object} Shown
 * @property {() => number} length
 * @property {(place: number) => string} key
 * @property {(place: number) => readonly string[]} paths
 * @property {() => void} draw
 * @property {(key: string, event: KeyboardEvent) => boolean} onKey whether the key did something
 * @property {(place: number) => void} onClose
 */

export class Viewer {
  place = 0;
  /** The file of the row that is shown. */
  file = 0;
  dialog = /** @type {HTMLDialogElement} */ (at('enlarged'));
  stage = at('stage');
  /** Neighbours that are loaded in advance. @type {HTMLImageElement[]} */
  ahead = [];
  #shown;

  /** @param {Shown} shown */
  constructor(shown) {
    this.#shown = shown;
    this.dialog.addEventListener('close', () => {
      this.stage.replaceChildren();
      this.ahead = [];
      history.replaceState(undefined, '', location.pathname + location.search);
      shown.onClose(this.place);
    });
    this.dialog.addEventListener('keydown', (event) => this.#onKey(event));
    at('close').onclick = () => this.dialog.close();
    at('before').onclick = () => this.go(-1);
    at('after').onclick = () => this.go(1);
    this.#swipe();
  }

  /** @param {number} place */
  open(place) {
    this.place = place;
    this.file = 0;
    if (!this.dialog.open) this.dialog.showModal();
    history.replaceState(undefined, '', `#${encodeURIComponent(this.#shown.key(place))}`);
    this.#shown.draw();
    const near = [1, -1, 2].map((by) => place + by).filter((one) => this.#has(one));
    this.ahead = near
      .flatMap((one) => this.#shown.paths(one))
      .filter((path) => kindOf(path) === 'picture')
      .map((src) => Object.assign(new Image(), { src }));
  }

  /** @param {number} by */
  go(by) {
    if (this.#has(this.place + by)) this.open(this.place + by);
  }

  /** @param {number} place */
  #has(place) {
    return place >= 0 && place < this.#shown.length();
  }

  /** What is on the stage, what the strip below shows of each file if there are several, and the place.
   * @type {(stage: readonly Child[], files: readonly Child[]) => void}
   */
  show(stage, files) {
    fill(this.stage, stage);
    const item = (/** @type {Child} */ content, /** @type {number} */ nth) =>
      button(
        'thumb',
        () => {
          this.file = nth;
          this.#shown.draw();
        },
        { 'aria-label': `file ${nth + 1}`, 'aria-pressed': nth === this.file },
        content,
      );
    fill(at('strip'), files.length > 1 && files.map(item));
    for (const [id, by] of /** @type {const} */ ([
      ['before', -1],
      ['after', 1],
    ]))
      at(id).toggleAttribute('disabled', !this.#has(this.place + by));
    at('position').textContent = `${this.place + 1} of ${this.#shown.length()}`;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { ctrlKey, metaKey, altKey, target, key } = event;
    if (ctrlKey || metaKey || altKey || target instanceof HTMLMediaElement) return;
    const by = target instanceof HTMLInputElement ? undefined : { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (by !== undefined) this.go(by);
    else if (!this.#shown.onKey(key.toLowerCase(), event)) return;
    event.preventDefault();
  }

  #swipe() {
    let from = 0;
    const start = (/** @type {TouchEvent} */ { touches }) => (from = touches[0]?.clientX ?? 0);
    this.stage.addEventListener('touchstart', start, { passive: true });
    this.stage.addEventListener('touchend', ({ changedTouches, target }) => {
      const way = (changedTouches[0]?.clientX ?? 0) - from;
      const isMoved =
        this.stage.classList.contains('actual') || (target instanceof Element && target.closest('.overlay'));
      if (Math.abs(way) > 60 && !isMoved) this.go(way < 0 ? 1 : -1);
    });
  }
}

/** @param {string} path */
export const thumbOf = (path) =>
  kindOf(path) === 'picture'
    ? make('img', { src: path, alt: '', loading: 'lazy' })
    : (path.split('.').at(-1) ?? '');
