// Recognises, by their first lines, texts that programs of the trade write: option lines and PNG info of A1111, prompts of Midjourney,
// subtitles, tables of Markdown, and chats.

import { A1111_OPTIONS } from './a1111.ts';
import { isSettingsLine } from './infotext.ts';
import { isChat } from './chat.ts';
import { hasTable } from './markdown-tables.ts';
import { isCommand, isMidjourney } from './midjourney.ts';
import { CUE_TIME } from './subtitles.ts';

const MAX_LINES = 20;
const MAX_LETTERS = 64 * 1024;

type TradeFormat = 'a1111' | 'midjourney' | 'subtitles' | 'markdown' | 'chat';

/** `text`: the beginning of the file, without white space before it. */
export function tradeFormatOf(text: string): TradeFormat | undefined {
  const allLines = text.slice(0, MAX_LETTERS).split(/\r\n|\n|\r/);
  const lines = allLines
    .slice(0, MAX_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (isSubtitles(lines)) return 'subtitles';
  const withOptions = lines.filter((line) => A1111_OPTIONS.has(/^--(\w+)(?=\s|$)/.exec(line)?.[1] ?? ''));
  if (withOptions.length > 0 && withOptions.length * 2 >= lines.length) return 'a1111';
  if (lines.some(isSettingsLine)) return 'a1111';
  if (hasTable(allLines)) return 'markdown';
  if (isChat(allLines)) return allLines.some(isCommand) ? 'midjourney' : 'chat';
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
