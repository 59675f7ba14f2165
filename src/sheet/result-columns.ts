// The result columns, which follow the sheet's own columns. If a corrected results file is used as a sheet,
// they are not inputs, and the new batch replaces them.

export const RESULT_COLUMNS = [
  'row',
  'key',
  'outcome',
  'reason',
  'run_id',
  'gpu_asked',
  'gpu_used',
  'attempts',
  'queue_seconds',
  'cold_start_seconds',
  'run_seconds',
  'cost_usd',
  'nodes',
  'texts',
  'outputs',
] as const;
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/**
 * Every header that a version has written. Frozen, because users keep and correct their results files: a new column
 * adds a line and changes none.
 */
const HEADERS = [
  'row,key,outcome,reason,run_id,gpu_asked,gpu_used,attempts,queue_seconds,cold_start_seconds,run_seconds,cost_usd,outputs',
  'row,key,outcome,reason,run_id,gpu_asked,gpu_used,attempts,queue_seconds,cold_start_seconds,run_seconds,cost_usd,nodes,texts,outputs',
].map((header) => header.split(','));

/** The names of the result columns; a name that the sheet uses gets a prefix. */
export function resultNames(
  own: readonly string[],
  columns: readonly string[] = RESULT_COLUMNS,
): readonly string[] {
  const taken = new Set(own);
  return columns.map((name) => (taken.has(name) ? `runsheet_${name}` : name));
}

/** The column with the text that a template made for an input. It stands before the result columns. */
export const sentColumn = (input: string): string => `${SENT}${input}`;
const SENT = 'sent: ';

/** The names without the result columns of an earlier batch. */
export function ownColumns(names: readonly string[]): readonly string[] {
  for (const columns of HEADERS) {
    const own = names.slice(0, -columns.length);
    const isResults =
      own.length > 0 && resultNames(own, columns).every((name, at) => names[own.length + at] === name);
    if (isResults) return own.slice(0, own.findLastIndex((name) => !name.startsWith(SENT)) + 1);
  }
  return names;
}
