export const EXPORT_FORMATS = ['xlsx', 'csv', 'jsonl', 'zip'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
