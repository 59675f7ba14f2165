// Lines of the script "Prompts from file or textbox" of Stable Diffusion web UI (A1111): `--prompt "a fox" --steps 12`. A line
// without options is a prompt. Source: scripts/prompts_from_file.py of AUTOMATIC1111/stable-diffusion-webui.

import type { TextRow } from './text-row.ts';

/** The options that the script knows. */
export const A1111_OPTIONS: ReadonlySet<string> = new Set(
  (
    'sd_model outpath_samples outpath_grids prompt_for_display prompt negative_prompt styles seed subseed_strength subseed ' +
    'seed_resize_from_h seed_resize_from_w sampler_index sampler_name batch_size n_iter steps cfg_scale width height ' +
    'restore_faces tiling do_not_save_samples do_not_save_grid'
  ).split(' '),
);

/** Options whose values the script reads to the next option, with or without quotes. */
const TEXTS: ReadonlySet<string> = new Set(['prompt', 'negative_prompt']);

/** The row of a line; undefined for an empty line. */
export function a1111Row(line: string, row: number): TextRow | undefined {
  const text = line.trim();
  if (text === '') return undefined;
  if (!text.startsWith('--')) return { row, cells: { prompt: text } };
  const words = wordsOf(text);
  const cells: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 1) {
    const option = optionIn(words[at]);
    if (option === undefined) continue;
    const end = TEXTS.has(option) ? endOfText(words, at + 1) : at + 2;
    const values = words.slice(at + 1, end).filter((word) => optionIn(word) === undefined);
    cells[option] = values.map(({ text: value }) => value).join(' ');
    at += values.length;
  }
  return { row, cells };
}

type Word = { readonly text: string; readonly isQuoted: boolean };

const optionIn = (word: Word | undefined): string | undefined =>
  word === undefined || word.isQuoted ? undefined : /^--(\w+)$/.exec(word.text)?.[1];

function endOfText(words: readonly Word[], from: number): number {
  const next = words.findIndex((word, at) => at >= from && optionIn(word) !== undefined);
  return next === -1 ? words.length : next;
}

/** Splits as a shell does: quotes of both kinds, and backslashes outside of single quotes. A quote without an end takes the rest of the line. */
function wordsOf(line: string): readonly Word[] {
  const words: Word[] = [];
  for (const [, double, single, plain] of line.matchAll(
    /"((?:[^"\\]|\\.)*)"?|'([^']*)'?|((?:[^\s"'\\]|\\.|(?<=\S)['"])+)/gs,
  ))
    words.push({
      text: single ?? (double ?? plain ?? '').replaceAll(/\\(.)/gs, '$1'),
      isQuoted: plain === undefined,
    });
  return words;
}
