// What makes rows of two batches a pair: their key, or all of their inputs.

export const PAIRED_BY = ['key', 'inputs'] as const;
export type PairedBy = (typeof PAIRED_BY)[number];
