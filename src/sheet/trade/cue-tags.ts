// Tags in the text of a cue: `<i>`, `<v Zoé>`, `<00:03.100>`, `{\an8}`. They style the text, place it, or say who speaks.

/** Source: https://www.w3.org/TR/webvtt1/#model-cues; `{\…}` is an override of SubStation Alpha, which SubRip files have too. */
const TAGS = /<\/?(?:c|i|b|u|s|v|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<(?:\d+:)+\d+[\d.]*>|\{\\[^{}]*\}/gi;

const VOICE = /<v(?:\.[^\s<>]*)*\s+([^<>]+)>/gi;

/** Each different tag, as it is written. */
export const tagsIn = (text: string): readonly string[] => [...new Set(text.match(TAGS) ?? [])];

export const withoutTags = (text: string): string =>
  tagsIn(text).length === 0
    ? text
    : text
        .replaceAll(TAGS, '')
        .split('\n')
        .map((line) => line.trim())
        .join('\n');

/** `Zoé` for `<v Zoé>`; several voices are separated by commas. */
export const voiceIn = (text: string): string =>
  [...new Set([...text.matchAll(VOICE)].map(([, name = '']) => name.trim()))].join(', ');
