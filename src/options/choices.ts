// Words that users choose from, beside the options of a batch.

export const EXPORT_FORMATS = ['xlsx', 'csv', 'jsonl', 'zip'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What makes rows of two batches a pair. */
export const PAIRED_BY = ['key', 'inputs'] as const;
export type PairedBy = (typeof PAIRED_BY)[number];

/** What happens if a batch of an earlier firing runs. */
export const OVERLAPS = ['skip', 'buffer', 'cancel'] as const;
export type Overlap = (typeof OVERLAPS)[number];
