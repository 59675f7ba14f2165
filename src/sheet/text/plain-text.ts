// Reads a text without the marks in it: those of Markdown and of a chat, ticks, notes of music, numbers of footnotes, and stage directions
// where the text is spoken: `**bold**`, `~~struck out~~`, `✓ `, `♪`, `[1] `, `(sighs) `.

import { isMarkup, withSigns } from './entities.ts';

const STRUCK = '~~[^~]+~~';
const TICK = '^[✓✔✅☑✗✘❌☐]\uFE0F?';
const MUSIC = '[♪♫]+';
const FOOTNOTE = String.raw`^\[\d{1,3}\](?=\s)`;
/** A bracket with a sentence is a text. */
const DIRECTION = String.raw`(?<=^|[.!?…]["”’]?\s+)\([^().!?]{2,40}\)(?=\s)|(?!^\[[^\][]*\]$)\[[^\][]{1,40}\]`;
const BOLD = /\*\*([^*]+)\*\*/g;

const DRAWN = [STRUCK, TICK, MUSIC, FOOTNOTE];
const SPOKEN = [...DRAWN, DIRECTION];

/** A mark, with the blanks that would be left over. */
const leftOut = (marks: readonly string[]): RegExp => {
  const any = marks.join('|');
  return new RegExp(String.raw`\s*(?:${any})(?=[.,;:!?…]|$)|(?:${any})\s*`, 'gu');
};
const LEFT_OUT = { drawn: leftOut(DRAWN), spoken: leftOut(SPOKEN) };

const FIRST = (marks: readonly string[]): readonly RegExp[] =>
  [String.raw`\*\*[^*]+\*\*|${marks.slice(0, 4).join('|')}`, ...marks.slice(4)].map(
    (mark) => new RegExp(mark, 'u'),
  );
const MARKS = { drawn: FIRST(DRAWN), spoken: FIRST(SPOKEN) };

/** The first mark of each sort in some texts. */
export const marksIn = (texts: readonly string[], isSpoken: boolean): readonly string[] =>
  MARKS[isSpoken ? 'spoken' : 'drawn'].flatMap((mark) =>
    texts.flatMap((text) => mark.exec(text)?.[0] ?? []).slice(0, 1),
  );

/** Empty if nothing else stands in the text. */
export function plainText(text: string, isSpoken: boolean): string {
  if (isMarkup(text)) return text;
  const bare = withSigns(text).replaceAll(BOLD, '$1');
  return bare.replaceAll(LEFT_OUT[isSpoken ? 'spoken' : 'drawn'], '').trim();
}

/** Whether the tags say that a text is sent without the bullet in front of it. */
export const isWithoutBullets = (tags: string | undefined): boolean => tags === 'strip' || tags === 'plain';
