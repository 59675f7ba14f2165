// The result columns, which follow the sheet's own columns. A corrected results file may be used as a sheet again: then they
// are not inputs, and the new batch replaces them.

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
  'outputs',
] as const;
export type ResultColumn = (typeof RESULT_COLUMNS)[number];

/** The names of the result columns; a name that the sheet uses gets a prefix. */
export function resultNames(own: readonly string[]): readonly string[] {
  const taken = new Set(own);
  return RESULT_COLUMNS.map((name) => (taken.has(name) ? `runsheet_${name}` : name));
}

/** The names without the result columns of an earlier batch. */
export function ownColumns(names: readonly string[]): readonly string[] {
  const own = names.slice(0, -RESULT_COLUMNS.length);
  const isResults =
    names.length > RESULT_COLUMNS.length &&
    resultNames(own).every((name, at) => names[own.length + at] === name);
  return isResults ? own : names;
}
