// PNG info of Stable Diffusion web UI (A1111), which Forge and ComfyUI nodes write too: blocks of a prompt, `Negative prompt: …`, and
// a line of settings. Source: parse_generation_parameters in modules/infotext_utils.py of AUTOMATIC1111/stable-diffusion-webui.

import type { TextRow } from './text-row.ts';

const SETTINGS = /^Steps: *\d+, *[A-Z][\w ]*:/;
const SETTING = /\s*(\w[\w \-/]+):\s*("(?:\\.|[^\\"])+"|[^,]*)(?:,|$)/g;
const NEGATIVE = 'Negative prompt:';

/** Names of settings → options of the script "Prompts from file". */
const OPTIONS: Readonly<Record<string, string>> = {
  Steps: 'steps',
  Sampler: 'sampler_name',
  'CFG scale': 'cfg_scale',
  Seed: 'seed',
};

/** `Steps: 28, Sampler: Euler a, CFG scale: 7` */
export const isSettingsLine = (line: string): boolean => SETTINGS.test(line.trim());

export class InfoBlocks {
  #first = 0;
  #prompt: string[] = [];
  #negative: string[] | undefined;

  /** Takes a line, and returns the row that it completes. */
  take(text: string, line: number): readonly TextRow[] {
    const bare = text.trim();
    if (this.#first === 0 && bare === '') return [];
    if (this.#first === 0) this.#first = line;
    if (isSettingsLine(bare)) return [this.#row(settingsIn(bare))];
    if (bare.startsWith(NEGATIVE)) this.#negative = [bare.slice(NEGATIVE.length).trim()];
    else (this.#negative ?? this.#prompt).push(bare);
    return [];
  }

  /** The rest of the text has no settings, and may be a note or a block that was cut. */
  end(): readonly TextRow[] {
    if (this.#first === 0) return [];
    const fault = {
      line: this.#first,
      column: 1,
      what: 'below these lines of PNG info, the line "Steps: …" is missing',
      hint: `if they are no prompt, delete them, or leave them out: --skip-rows ${this.#first}`,
    };
    return [{ ...this.#row({}), fault }];
  }

  #row(settings: Readonly<Record<string, string>>): TextRow {
    const [row, prompt, negative] = [this.#first, textOf(this.#prompt), textOf(this.#negative ?? [])];
    [this.#first, this.#prompt, this.#negative] = [0, [], undefined];
    return { row, cells: { prompt, ...(negative !== '' && { negative_prompt: negative }), ...settings } };
  }
}

const textOf = (lines: readonly string[]): string => lines.join('\n').trim();

function settingsIn(line: string): Readonly<Record<string, string>> {
  const cells: Record<string, string> = {};
  for (const [, name = '', text = ''] of line.matchAll(SETTING)) {
    const value = text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text.trim();
    const [, width, height] = (name === 'Size' && /^(\d+)x(\d+)$/.exec(value)) || [];
    if (width === undefined || height === undefined) cells[OPTIONS[name] ?? name] = value;
    else Object.assign(cells, { width, height });
  }
  return cells;
}
