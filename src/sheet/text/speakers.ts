// Names of speakers and dashes of a dialogue at the start of a line: `TOM: Did you hear that?`, `Speaker 1: No.`, `- Who is it?`.

import { isWeekday } from './weekdays.ts';

/** A name has at most three words; a remark may follow, as in `TOM (whispers): `. */
const SPEAKER =
  /^\s*(?:\*\*|__)?\[?((?:\p{Lu}|\p{Lo})[\p{L}\p{M}\d.'’-]*(?: [\p{L}\p{M}\d.'’-]+){0,2}(?:\s*\([^()]{1,40}\))?)\]?\s*(?:\*\*|__)?\s*(?::(?:\*\*|__)?(?:\s+|$)|:\s*)(?:\*\*|__)?\s*/u;

/** Two hyphens, an arrow or a negative number are no dash of a dialogue. */
const DASH = /^\s*[-–—‐](?:\s+(?=\S)|(?=[^\s\d\-–—>]))/u;

/** A remark such as `(leise)`, and no number of a speaker. */
const REMARK = /\s*\([^()]{3,}\)$/;

export type SpokenLine = { readonly voice: string; readonly text: string };

/** The line without its name; undefined if it begins with none. A weekday is no name, unless it is in capitals. */
export function spokenLine(line: string): SpokenLine | undefined {
  const [start = '', voice] = SPEAKER.exec(line) ?? [];
  const text = line.slice(start.length);
  if (voice === undefined || text === '' || (isWeekday(voice) && !isInCapitals(voice))) return undefined;
  return { voice: voice.replace(REMARK, ''), text };
}

/** The name in front of a text without a colon: `ANNA Hello.`, `Anna - Hello.` */
export const nameBefore = (text: string): string | undefined =>
  spokenLine(text)?.voice ??
  /^\s*(\p{Lu}{2}[\p{Lu}\d.'’-]*(?=\s+\p{Lu})|\p{Lu}[\p{L}\d.'’]*(?=\s+[-–—|]\s+\S))/u.exec(text)?.[1];

/** Whether a name ends like a clause: `He asked`. `Old man` does so too. */
export const isClause = (name: string): boolean => /\s\p{Ll}\S*$/u.test(name.replace(/\s*\([^()]*\)$/, ''));

/** Whether the line is a name alone, as in a screenplay. */
export const isNameAlone = (line: string): boolean => SPEAKER.exec(line)?.[0].length === line.length;

/** `Speaker: Amy` */
const LABELLED =
  /^\s*(?:speaker|voice|character|sprecher(?:in)?|stimme|locuteur|voix|personnage|locutor|voz|personaje|voce)\s*:\s*(\p{L}[^\s:]*(?: [^\s:]+){0,2})\s*$/iu;

export const labelledName = (line: string): string | undefined => LABELLED.exec(line)?.[1];

/** The name of a line that has nothing else: `ANNA:`, `Speaker: Amy`. */
export const aloneName = (line: string): string | undefined =>
  isNameAlone(line) ? SPEAKER.exec(line)?.[1] : labelledName(line);

/** The name in a line of a screenplay that has nothing else: `ANNA`, also for `ANNA (CONT'D)`. */
export const nameInCapitals = (line: string): string | undefined => {
  const name = line.trim().replace(/\s*\(\P{Ll}{1,40}\)$/u, '');
  return isInCapitals(name) && isNameAlone(`${name}:`) ? name : undefined;
};

/** Whether a name is written in capitals, as scripts have it. */
export const isInCapitals = (name: string): boolean => /\p{Lu}{2}/u.test(name) && !/\p{Ll}/u.test(name);

export const withoutDash = (line: string): string => line.replace(DASH, '');

/** The turns of a text: a name or a dash begins one, and further lines belong to the turn above. */
export function turnsIn(text: string, voice = ''): readonly SpokenLine[] {
  const turns: { voice: string; text: string }[] = [];
  for (const line of text.split('\n')) {
    const bare = withoutDash(line);
    const spoken = spokenLine(bare);
    const last = turns.at(-1);
    if (last === undefined || spoken !== undefined || bare !== line)
      turns.push({ voice: spoken?.voice ?? voice, text: spoken?.text ?? bare });
    else last.text += `\n${line}`;
  }
  return turns.map((turn) => ({ ...turn, text: turn.text.trim() })).filter((turn) => turn.text !== '');
}
