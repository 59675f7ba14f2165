// The columns that a batch puts behind the sheet's own. A file of results may come back as a sheet, mended: then they are
// no inputs, and the new batch's take their place.

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

/** Names of ours beside a sheet's own; one that the sheet uses itself gets a prefix. */
export function resultNames(own: readonly string[]): readonly string[] {
  const taken = new Set(own);
  return RESULT_COLUMNS.map((name) => (taken.has(name) ? `runsheet_${name}` : name));
}

/** The names without those that an earlier batch put behind them. */
export function ownColumns(names: readonly string[]): readonly string[] {
  const own = names.slice(0, -RESULT_COLUMNS.length);
  const isResults =
    names.length > RESULT_COLUMNS.length &&
    resultNames(own).every((name, at) => names[own.length + at] === name);
  return isResults ? own : names;
}
