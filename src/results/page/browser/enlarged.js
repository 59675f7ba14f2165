// The enlarged view of a row: its files, all of its cells and its attempts.

import { at, copyButton, fill, make, newTab } from './dom.js';
import { shellWord } from './text.js';
import { largeView, noPicture } from './media.js';
import { factsOf } from './cards.js';
import { attemptList, cellList, fileList, pickBar } from './row-parts.js';
import { thumbOf, Viewer } from './viewer.js';

/** @import { Child } from './dom.js' */
/** @import { Source } from './cards.js' */
/** @import { Choice } from './picks.js' */
/** @import { ShownRow } from '../report-row.ts' */

/** @typedef {{ order: () => Uint32Array, onClose: (place: number) => void, onPick: (place: number) => void }} Around */

export class Enlarged {
  #source;
  #around;
  #viewer;
  /** @type {{ row: number, detail: ShownRow | undefined } | undefined} */
  #known;

  /**
   * @param {Source} source
   * @param {Around} around
   */
  constructor(source, around) {
    this.#source = source;
    this.#around = around;
    this.#viewer = new Viewer({
      length: () => around.order().length,
      key: (place) => source.table.key[around.order()[place] ?? -1] ?? '',
      paths: (place) => [source.table.file[around.order()[place] ?? -1] ?? ''],
      draw: () => this.#draw(),
      onKey: (key) => this.#onKey(key),
      onClose: around.onClose,
    });
    this.#viewer.stage.addEventListener('click', (event) => this.#onClick(event));
  }

  get isOpen() {
    return this.#viewer.dialog.open;
  }

  /** @param {number} place */
  open(place) {
    this.#viewer.open(place);
  }

  get #row() {
    return this.#around.order()[this.#viewer.place] ?? 0;
  }

  #draw() {
    const row = this.#row;
    if (this.#known?.row !== row) {
      this.#known = { row, detail: undefined };
      void this.#source.read(row).then((detail) => {
        if (row !== this.#row || detail === undefined || !this.isOpen) return;
        this.#known = { row, detail };
        if (detail.files.length > 1) this.#drawStage();
        this.#drawSide();
      });
    }
    this.#drawStage();
    this.#drawSide();
  }

  #drawStage() {
    const { table } = this.#source;
    const row = this.#row;
    const files =
      this.#known?.detail?.files.map(({ path }) => path) ?? [table.file[row] ?? ''].filter(Boolean);
    const path = files[this.#viewer.file];
    this.#viewer.stage.classList.remove('actual');
    this.#viewer.show(
      [
        path === undefined
          ? noPicture(table.outcomeName(row), table.reason[row] ?? '')
          : largeView(path, `${table.key[row] ?? ''}: ${table.caption(row)}`),
      ],
      files.map(thumbOf),
    );
  }

  #drawSide() {
    const { table, picks } = this.#source;
    const row = this.#row;
    const outcome = table.outcomeName(row);
    const facts = `${outcome === 'succeeded' ? 'succeeded · ' : ''}${factsOf(table, row)}`;
    fill(
      at('side'),
      make('h2', table.title(row)),
      make('p.facts', `row ${row + 1} · ${facts}`),
      pickBar(picks.of(table.key[row] ?? `row ${row + 1}`), (choice) => this.#choose(choice)),
      this.#known?.detail && this.#detailParts(this.#known.detail, row),
    );
  }

  /** @type {(detail: ShownRow, row: number) => Child[]} */
  #detailParts = ({ inputs, data, more = 0, reason, attempts, files, texts = [], reused }, row) => {
    const retry = `runsheet retry ${shellWord(this.#source.table.facts.batch)} --row ${row + 1}`;
    const path = files[this.#viewer.file]?.path;
    return [
      reason !== undefined && make('p.reason', reason),
      reused !== undefined && make('p.note', `Reused from ${reused}; not bought again.`),
      cellList('Inputs', Object.entries(inputs)),
      cellList('Other columns', Object.entries(data)),
      more > 0 && make('p.note', `${more} more cells are in results.jsonl.`),
      ...texts.map((text) => make('pre', text)),
      make(
        'div.actions.wrap',
        path !== undefined && [copyButton('Copy path', path), newTab(path, 'button', 'Open file')],
        copyButton('Copy retry command', retry),
        copyButton('Copy link', location.href),
      ),
      attemptList(attempts),
      fileList(files),
    ];
  };

  /** @param {Choice} choice */
  #choose(choice) {
    const { table, picks } = this.#source;
    picks.toggle(table.key[this.#row] ?? '', choice);
    this.#around.onPick(this.#viewer.place);
    this.#drawSide();
  }

  /** @param {string} key */
  #onKey(key) {
    if (key === 'p') this.#choose('picked');
    else if (key === 'x') this.#choose('rejected');
    else if (/^[1-5]$/.test(key)) this.#choose(Number(key));
    else if (key === 'z') this.#viewer.stage.classList.toggle('actual');
    else return false;
    return true;
  }

  /** A click on the picture shows its own size, at the place of the click. @param {MouseEvent} event */
  #onClick({ target, clientX, clientY }) {
    const { stage, dialog } = this.#viewer;
    if (target === stage) return void dialog.close();
    if (!(target instanceof HTMLImageElement)) return;
    const { left, top, width, height } = target.getBoundingClientRect();
    stage.classList.toggle('actual');
    stage.scrollTo(
      ((clientX - left) / width) * target.offsetWidth - stage.clientWidth / 2,
      ((clientY - top) / height) * target.offsetHeight - stage.clientHeight / 2,
    );
  }
}
