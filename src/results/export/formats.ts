export const EXPORT_FORMATS = ['xlsx', 'csv', 'parquet', 'jsonl', 'zip'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
