import { NAMES, runsWithoutFields } from './optional-fields.ts';

/** Each field with others that are nowhere near it. */
const few = NAMES.map((_, at) =>
  [0, 1, 2].map((step) => NAMES[(at * 7 + step * step * 5 + step) % NAMES.length] ?? ''),
);

runsWithoutFields([...NAMES.map((name) => [name]), ...few]);
