// Tags in the text of a cue: `<i>`, `<v Zoé>`, `<00:03.100>`, `{\an8}`. They style the text, place it, or say who speaks. Signs may
// be written as entities: `&amp;`.

import { type SpokenLine, turnsIn } from '../text/speakers.ts';

/** Source: https://www.w3.org/TR/webvtt1/#model-cues; `{\…}` is an override of SubStation Alpha, which SubRip files have too. */
const TAGS = /<\/?(?:c|i|b|u|s|v|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<(?:\d+:)+\d+[\d.]*>|\{\\[^{}]*\}/gi;

const VOICE = /<v(?:\.[^\s<>]*)*\s+([^<>]+)>/gi;

/** Each different tag, as it is written. */
export const tagsIn = (text: string): readonly string[] => [...new Set(text.match(TAGS) ?? [])];

const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp|lrm|rlm|#\d{1,7}|#x[\da-f]{1,6});/gi;

const SIGNS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lrm: '',
  rlm: '',
};

/** Each different entity, as it is written. */
export const entitiesIn = (text: string): readonly string[] => [...new Set(text.match(ENTITY) ?? [])];

function signOf(entity: string): string {
  const name = entity.slice(1, -1).toLowerCase();
  if (!name.startsWith('#')) return SIGNS[name] ?? entity;
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0x1f && code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
}

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
  return bare.replaceAll(ENTITY, signOf);
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
