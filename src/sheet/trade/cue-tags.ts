// Tags in the text of a cue: `<i>`, `<v Zoé>`, `<00:03.100>`, `{\an8}`. They style the text, place it, or say who speaks. Signs may
// be written as entities: `&amp;`.

import { withoutEntities } from '../text/entities.ts';
import { type SpokenLine, turnsIn } from '../text/speakers.ts';

/** Source: https://www.w3.org/TR/webvtt1/#model-cues; `{\…}` is an override of SubStation Alpha, which SubRip files have too. */
const TAGS = /<\/?(?:c|i|b|u|s|v|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<(?:\d+:)+\d+[\d.]*>|\{\\[^{}]*\}/gi;

const VOICE = /<v(?:\.[^\s<>]*)*\s+([^<>]+)>/gi;

/** Each different tag, as it is written. */
export const tagsIn = (text: string): readonly string[] => [...new Set(text.match(TAGS) ?? [])];

/** The text as it is spoken. Tags go first: `&lt;i&gt;` is no tag. */
export function withoutTags(text: string): string {
  const bare =
    tagsIn(text).length === 0
      ? text
      : text
          .replaceAll(TAGS, '')
          .split('\n')
          .map((line) => line.trim())
          .join('\n');
  return withoutEntities(bare);
}

/** The parts of a text, each with its voice as in `<v Zoé>` or `TOM: `; a part before the first voice has none. */
export function spokenParts(text: string): readonly SpokenLine[] {
  const parts: SpokenLine[] = [];
  let [voice, from] = ['', 0];
  const put = (end: number): void => {
    parts.push(...turnsIn(withoutTags(text.slice(from, end)), voice));
  };
  for (const { 0: tag, 1: name = '', index } of text.matchAll(VOICE)) {
    put(index);
    voice = withoutTags(name).trim();
    from = index + tag.length;
  }
  put(text.length);
  return parts;
}

/** `Zoé` for `<v Zoé>`; several voices are separated by commas. */
export const voicesIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(VOICE)].map(([, name = '']) => withoutTags(name).trim())),
];
