// Asks whether bullets in front of the lines of a list are parts of the texts.

import { bulletIn } from '../csv/bullets.ts';
import { isSkipped, type SheetOptions, type SheetSource } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { NOTHING, or, toConfirm, type GuessPart } from './guess.ts';

const MAX_LINE = 1000;
const SAMPLED = 1000;

/** A question if half of the lines of a list, or more, have one. */
export async function bulletGuesses(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  if (options.delimiter !== 'none' || options.tags !== undefined) return NOTHING;
  const bullets: string[] = [];
  let [line, texts] = [0, 0];
  for await (const text of linesOf(lenientTextOf(source, options), MAX_LINE)) {
    line += 1;
    if (text.trim() === '' || isSkipped(options, line)) continue;
    texts += 1;
    bullets.push(...[bulletIn(text) ?? []].flat());
    if (texts === SAMPLED) break;
  }
  if (bullets.length < 2 || bullets.length * 2 < texts) return NOTHING;
  const which = bullets.length === texts ? 'each line begins' : `${bullets.length} of ${texts} lines begin`;
  const signs = [...new Set(bullets)].slice(0, 2).map((bullet) => JSON.stringify(bullet));
  const text = `${which} with a bullet or number, such as ${signs.join(' and ')}, which is left out of the text`;
  const guess = toConfirm('values', text, { tags: 'strip' }, or('to send it', { tags: 'send' }));
  return { options: { tags: 'strip' }, guesses: [guess] };
}
