// The questions that each door asks before money is spent. docs/guarantees.md shows this table, and doors.test.ts goes through
// it.

/** How a batch is made or extended. */
export const DOORS = {
  run: '`run`',
  submit: '`submit`',
  plan: '`plan`',
  start: '`start()`',
  runBatch: '`runBatch()`',
  create: '`schedule create`',
  firing: 'a firing',
  into: '`--into`',
  append: '`append()`',
  retry: '`retry`',
  retryCall: '`retry()`',
  watch: 'a save of `run --watch`',
} as const;

export type Door = keyof typeof DOORS;

/** Circumstances that may spend money against the user's intention. */
export const QUESTIONS = {
  guesses: 'the sheet is read with a guess',
  earlier: 'earlier batches have done rows of it',
  open: 'an earlier batch may still send rows of it',
  undelivered: 'an earlier batch has paid for rows of it, and has not got their files',
  moved: 'earlier batches have done rows of it with another address of a file',
  elsewhere: 'a batch in another folder has rows of it',
  changed: 'a batch has it with an earlier version of the deployment',
  ofBatch: 'it has results of a batch, corrected',
  otherGpu: 'the service may ignore the GPU of a row',
  manyRows: 'a grid, or several runs a row, make more than 100,000 rows of it',
  lowBudget: 'the limit of the cost is below what one run may cost, or below the forecast',
  outsideFiles: 'it names files outside of its folder, or hidden in it',
  changedRows: 'it changes rows that the batch has bought',
  boughtBefore: 'a row that has or may have a run that was paid for is sent again',
  boughtSince: 'another batch has bought, or may still buy, a row that is added or sent again',
  settings: 'a setting has no effect on the batch that exists',
} as const;

export type Question = keyof typeof QUESTIONS;

/** A door's reaction: `code` is the error where nobody can be asked, `answer` the flag that answers beforehand. */
export type Cell =
  | {
      readonly does: 'asks' | 'refuses' | 'says';
      readonly code?: string;
      readonly answer?: string;
    }
  | { readonly never: string };

const refuses = (code: string, answer: string) => ({ does: 'refuses', code, answer }) as const;
const asks = (code: string, answer: string) => ({ does: 'asks', code, answer }) as const;
const says = { does: 'says' } as const;
const never = (why: string) => ({ never: why });

const NEW_BATCH = never('makes a new batch');
const ADDS = never('the rows are compared with those of their batch');
const AS_ITS_ROWS = never('the batch makes as many rows of each row as it was made with');
const OLD_BATCH = never('the rows are those of the batch');
const OWN_LIMIT = never('the batch has its limit, and pauses at it');
const BUYS_ALL = never('a firing buys every row, or with `--reuse` only the others');

/** The doors of new batches that are made once; `flags` and `option` answer beforehand. */
const made = (code: string, flags: string, option: string) => ({
  run: asks(code, flags),
  submit: refuses(code, flags),
  plan: says,
  start: refuses(code, option),
  runBatch: refuses(code, option),
});
const scheduled = (cell: Cell) => ({ create: cell, firing: cell });
const added = (cell: Cell) => ({ into: cell, append: cell, watch: cell });
const again = (cell: Cell) => ({ retry: cell, retryCall: cell });
const always = (cell: Cell) => ({
  run: cell,
  submit: cell,
  plan: cell,
  start: cell,
  runBatch: cell,
  ...scheduled(cell),
});

/** About rows that other batches have. */
const ONLY_NEW = { ...scheduled(BUYS_ALL), ...added(ADDS), ...again(OLD_BATCH) };

export const TABLE: Readonly<Record<Question, Readonly<Record<Door, Cell>>>> = {
  guesses: {
    ...made('E111', 'the flags of the guess', "guess: 'accept'"),
    ...scheduled(refuses('E111', 'the flags of the guess')),
    into: asks('E111', 'the flags of the guess'),
    append: refuses('E111', "guess: 'accept'"),
    ...again(OLD_BATCH),
    watch: refuses('E111', 'as at the first save'),
  },
  earlier: { ...made('E530', '--reuse, --again', "reuse: 'reuse' | 'again'"), ...ONLY_NEW },
  open: {
    ...made('E531', '--again', "reuse: 'again'"),
    run: refuses('E531', '--again'),
    ...ONLY_NEW,
  },
  undelivered: { ...made('E546', '--again', "reuse: 'again'"), ...ONLY_NEW },
  moved: {
    ...made('E558', '--moved-files', "movedFiles: 'keep' | 'again'"),
    ...ONLY_NEW,
    firing: refuses('E558', '--moved-files'),
  },
  elsewhere: { ...made('E539', '--again', "reuse: 'again'"), ...ONLY_NEW },
  changed: {
    ...made('E545', '--again', "reuse: 'again'"),
    runBatch: never('a call with another `callId` is another call'),
    ...ONLY_NEW,
  },
  ofBatch: {
    ...made('E534', '--into, --again', "reuse: 'again'"),
    start: refuses('E534', "append(), reuse: 'again'"),
    ...ONLY_NEW,
  },
  otherGpu: {
    ...made('E314', '--accept-gpu', 'acceptGpu: true'),
    ...scheduled(refuses('E314', '--accept-gpu')),
    ...added(refuses('E314', '--accept-gpu')),
    append: refuses('E314', 'acceptGpu: true'),
    retry: refuses('E314', '--accept-gpu'),
    retryCall: refuses('E314', 'acceptGpu: true'),
  },
  manyRows: {
    ...made('E119', '--limit', 'limit'),
    ...scheduled(refuses('E119', '--limit')),
    ...added(AS_ITS_ROWS),
    ...again(OLD_BATCH),
  },
  lowBudget: {
    ...made('E547', '--max-cost, --accept-cost', 'maxCost, acceptCost: true'),
    create: refuses('E547', '--max-cost, --accept-cost'),
    firing: never('the limit was accepted when the schedule was made'),
    ...added(OWN_LIMIT),
    ...again(OWN_LIMIT),
  },
  outsideFiles: {
    ...made('E120', '--accept-files', 'acceptFiles: true'),
    ...scheduled(refuses('E120', '--accept-files')),
    into: asks('E120', '--accept-files'),
    append: refuses('E120', 'acceptFiles: true'),
    ...again(OLD_BATCH),
    watch: refuses('E120', '--accept-files'),
  },
  changedRows: {
    ...always(NEW_BATCH),
    into: { does: 'refuses', code: 'E533' },
    append: { does: 'refuses', code: 'E533' },
    retry: never('`--set` names what is bought again'),
    retryCall: never('`set` names what is bought again'),
    watch: never('a save is the wish of its user: they are sent again'),
  },
  boughtBefore: {
    ...always(NEW_BATCH),
    ...added(never('such rows are not sent again')),
    watch: never('a save is the wish of its user'),
    retry: asks('E549', '--yes'),
    retryCall: refuses('E549', 'mayBuyTwice: true'),
  },
  boughtSince: {
    ...always(never('asked as rows that batches have done')),
    into: asks('E549', '--yes'),
    append: refuses('E549', 'mayBuyTwice: true'),
    watch: never('a save is the wish of its user'),
    retry: asks('E549', '--yes'),
    retryCall: refuses('E549', 'mayBuyTwice: true'),
  },
  settings: {
    ...always(says),
    plan: never('it changes nothing'),
    runBatch: never('a call with the same `callId` is the same call'),
    ...scheduled(NEW_BATCH),
    into: { does: 'refuses', code: 'E602' },
    append: never('it takes no such settings'),
    ...again(never('it takes no such settings')),
    watch: never('said when the batch is continued'),
  },
};
