// Shows the pictures of the rows that ended last above the progress of a batch, a strip every few seconds.

import { buffer } from 'node:stream/consumers';
import { errorMessage, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { EndedRows } from '../../library/handle/ended-rows.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { openStrips, type MakeStrip } from '../../results/picture-strip.ts';
import { isPicture, THUMBNAIL_BYTES } from '../../results/thumbnails.ts';
import type { Printer } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import type { PictureFlag } from '../flags/flags.ts';
import type { ProgressView } from './progress-view.ts';
import { protocolFor, terminalPicture, type Protocol } from './terminal-pictures.ts';

const STRIP_PICTURES = 6;
const STRIP_EVERY_MS = 3_000;

/** How this terminal shows pictures, and what makes them small. */
export type Pictures = { readonly protocol: Protocol; readonly makeStrip: MakeStrip };

/** undefined if they are not wanted. Throws E602 if they cannot be decoded or shown here. */
export async function openPictures(
  { pictures }: { readonly pictures?: PictureFlag | undefined },
  { isTerminal }: Pick<Printer, 'isTerminal'>,
): Promise<Pictures | undefined> {
  if (pictures === undefined) return undefined;
  const protocol = protocolFor(pictures, configOf({}).environment, isTerminal);
  const makeStrip = await openStrips();
  if (makeStrip !== undefined) return { protocol, makeStrip };
  throw problem('E602', {
    what: '--pictures needs the package sharp, which is not installed for this machine',
    hint: 'install it beside runsheet, or remove --pictures: the report shows all pictures',
  });
}

type Latest = { readonly key: string; readonly path: string };

export class LatestPictures {
  readonly #found: FoundBatch;
  readonly #protocol: Protocol;
  readonly #makeStrip: MakeStrip;
  readonly #rows: EndedRows;
  /** Of rows that have ended since the last strip. */
  #latest: readonly Latest[] = [];
  #shownAt = Number.NEGATIVE_INFINITY;
  #isOver = false;

  private constructor(found: FoundBatch, protocol: Protocol, makeStrip: MakeStrip, rows: EndedRows) {
    [this.#found, this.#protocol, this.#makeStrip, this.#rows] = [found, protocol, makeStrip, rows];
  }

  /** From the rows that end now on. */
  static async open(found: FoundBatch, { protocol, makeStrip }: Pictures): Promise<LatestPictures> {
    return new LatestPictures(found, protocol, makeStrip, await EndedRows.fromNewest(found));
  }

  /** `hasEnded`: no further row will end. A failure ends the pictures, not the command. */
  async show(view: ProgressView, now: number, hasEnded = false): Promise<void> {
    if (this.#isOver) return;
    try {
      await this.#show(view, now, hasEnded);
    } catch (error) {
      this.#isOver = true;
      view.note(`no more pictures: ${terminalLine(errorMessage(error))}`);
    }
  }

  async #show(view: ProgressView, now: number, hasEnded: boolean): Promise<void> {
    for await (const { key, files } of this.#rows.read(hasEnded)) {
      const picture = files.find(({ path, bytes }) => isPicture(path) && bytes <= THUMBNAIL_BYTES);
      if (picture) this.#latest = [...this.#latest, { key, path: picture.path }].slice(-STRIP_PICTURES);
    }
    if (this.#latest.length === 0 || (!hasEnded && now - this.#shownAt < STRIP_EVERY_MS)) return;
    const [latest, strip] = [this.#latest, await this.#strip()];
    [this.#latest, this.#shownAt] = [[], now];
    if (strip === undefined) return;
    const keys = terminalLine(latest.map(({ key }) => key).join(' · '));
    view.picture(`${await terminalPicture(this.#protocol, strip)}${keys}\n`);
  }

  async #strip() {
    const open = (path: string) => buffer(this.#found.store.open(path)).catch(() => undefined);
    const pictures = await Promise.all(this.#latest.map(({ path }) => open(path)));
    return this.#makeStrip(pictures.filter((bytes) => bytes !== undefined));
  }
}
