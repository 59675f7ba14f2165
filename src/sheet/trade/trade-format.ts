// Recognises, by their first lines, texts that programs of the trade write: option lines of A1111, prompts of Midjourney, and subtitles.

import { A1111_OPTIONS } from './a1111.ts';
import { isMidjourney } from './midjourney.ts';
import { CUE_TIME } from './subtitles.ts';

const MAX_LINES = 20;

/** `text`: the beginning of the file, without white space before it. */
export function tradeFormatOf(text: string): 'a1111' | 'midjourney' | 'subtitles' | undefined {
  const lines = text
    .split(/\r\n|\n|\r/)
    .slice(0, MAX_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (isSubtitles(lines)) return 'subtitles';
  const withOptions = lines.filter((line) => A1111_OPTIONS.has(/^--(\w+)(?=\s|$)/.exec(line)?.[1] ?? ''));
  if (withOptions.length > 0 && withOptions.length * 2 >= lines.length) return 'a1111';
  return isMidjourneyText(lines) ? 'midjourney' : undefined;
}

/** A title may stand above the first cue. */
const isSubtitles = (lines: readonly string[]): boolean =>
  /^WEBVTT(?:\s|$)/.test(lines[0] ?? '') || lines.some((line) => CUE_TIME.test(line));

/** Whether at least half of the lines have parameters. The first may be a header. */
function isMidjourneyText(lines: readonly string[]): boolean {
  const prompts = lines.filter(isMidjourney).length;
  return prompts > 0 && prompts * 2 >= lines.length - 1;
}
