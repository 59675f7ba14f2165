// Words that users choose from, besides the options of a batch.

/** The formats of a sheet; `a1111`: lines of options as in Stable Diffusion web UI; `midjourney`: prompts with parameters; `markdown`: its tables; `chat`: its messages; `blocks`: labelled texts below each other. */
export const SHEET_FORMATS = [
  'csv',
  'tsv',
  'xlsx',
  'ods',
  'jsonl',
  'json',
  'a1111',
  'midjourney',
  'subtitles',
  'markdown',
  'chat',
  'blocks',
] as const;

export const EXPORT_FORMATS = ['xlsx', 'csv', 'jsonl', 'zip'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** How rows of two batches are paired. */
export const PAIRED_BY = ['key', 'inputs'] as const;
export type PairedBy = (typeof PAIRED_BY)[number];

/** The policy for a firing while a batch of an earlier firing still runs. */
export const OVERLAPS = ['skip', 'buffer', 'cancel'] as const;
export type Overlap = (typeof OVERLAPS)[number];
export const SCHEDULE_DEFAULTS = { overlap: 'skip', catchupHours: 1 } as const;
