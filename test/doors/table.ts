// Which door asks what before money is spent. docs/guarantees.md shows this table, and doors.test.ts goes through it.

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

/** What may spend money otherwise than its user means. */
export const QUESTIONS = {
  guesses: 'the sheet is read with a guess',
  earlier: 'earlier batches have done rows of it',
  open: 'an earlier batch may still send rows of it',
  elsewhere: 'a batch in another folder has rows of it',
  changed: 'a batch has it with an earlier version of the deployment',
  ofBatch: 'it has results of a batch, corrected',
  otherGpu: 'the service may ignore the GPU of a row',
  manyRows: 'a grid, or several runs a row, make more than 100,000 rows of it',
  outsideFiles: 'it names files outside of its folder, or hidden in it',
  changedRows: 'it changes rows that the batch has bought',
  boughtBefore: 'a row may have a run that was paid for',
  settings: 'a setting has no effect on the batch that exists',
} as const;

export type Question = keyof typeof QUESTIONS;

/** What a door does: `code` is the error where it cannot be asked, `answer` what answers beforehand. */
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
const BUYS_ALL = never('a firing buys every row, or with `--reuse` only the others');

export const TABLE: Readonly<Record<Question, Readonly<Record<Door, Cell>>>> = {
  guesses: {
    run: asks('E111', 'the flags of the guess'),
    submit: refuses('E111', 'the flags of the guess'),
    plan: says,
    start: refuses('E111', "guess: 'accept'"),
    runBatch: refuses('E111', "guess: 'accept'"),
    create: refuses('E111', 'the flags of the guess'),
    firing: refuses('E111', 'the flags of the guess'),
    into: asks('E111', 'the flags of the guess'),
    append: refuses('E111', "guess: 'accept'"),
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: refuses('E111', 'as at the first save'),
  },
  earlier: {
    run: asks('E530', '--reuse, --again'),
    submit: refuses('E530', '--reuse, --again'),
    plan: says,
    start: refuses('E530', "reuse: 'reuse' | 'again'"),
    runBatch: refuses('E530', "reuse: 'reuse' | 'again'"),
    create: BUYS_ALL,
    firing: BUYS_ALL,
    into: ADDS,
    append: ADDS,
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: ADDS,
  },
  open: {
    run: refuses('E531', '--again'),
    submit: refuses('E531', '--again'),
    plan: says,
    start: refuses('E531', "reuse: 'again'"),
    runBatch: refuses('E531', "reuse: 'again'"),
    create: BUYS_ALL,
    firing: BUYS_ALL,
    into: ADDS,
    append: ADDS,
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: ADDS,
  },
  elsewhere: {
    run: asks('E539', '--again'),
    submit: refuses('E539', '--again'),
    plan: says,
    start: refuses('E539', "reuse: 'again'"),
    runBatch: refuses('E539', "reuse: 'again'"),
    create: BUYS_ALL,
    firing: BUYS_ALL,
    into: ADDS,
    append: ADDS,
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: ADDS,
  },
  changed: {
    run: asks('E545', '--again'),
    submit: refuses('E545', '--again'),
    plan: says,
    start: refuses('E545', "reuse: 'again'"),
    runBatch: never('a call with another `callId` is another call'),
    create: BUYS_ALL,
    firing: BUYS_ALL,
    into: ADDS,
    append: ADDS,
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: ADDS,
  },
  ofBatch: {
    run: asks('E534', '--into, --again'),
    submit: refuses('E534', '--into, --again'),
    plan: says,
    start: refuses('E534', "append(), reuse: 'again'"),
    runBatch: refuses('E534', "reuse: 'again'"),
    create: BUYS_ALL,
    firing: BUYS_ALL,
    into: ADDS,
    append: ADDS,
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: ADDS,
  },
  otherGpu: {
    run: asks('E314', '--accept-gpu'),
    submit: refuses('E314', '--accept-gpu'),
    plan: says,
    start: refuses('E314', 'acceptGpu: true'),
    runBatch: refuses('E314', 'acceptGpu: true'),
    create: refuses('E314', '--accept-gpu'),
    firing: refuses('E314', '--accept-gpu'),
    into: refuses('E314', '--accept-gpu'),
    append: refuses('E314', 'acceptGpu: true'),
    retry: refuses('E314', '--accept-gpu'),
    retryCall: refuses('E314', 'acceptGpu: true'),
    watch: refuses('E314', '--accept-gpu'),
  },
  manyRows: {
    run: asks('E119', '--limit'),
    submit: refuses('E119', '--limit'),
    plan: says,
    start: refuses('E119', 'limit'),
    runBatch: refuses('E119', 'limit'),
    create: refuses('E119', '--limit'),
    firing: refuses('E119', '--limit'),
    into: AS_ITS_ROWS,
    append: AS_ITS_ROWS,
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: AS_ITS_ROWS,
  },
  outsideFiles: {
    run: asks('E120', '--accept-files'),
    submit: refuses('E120', '--accept-files'),
    plan: says,
    start: refuses('E120', 'acceptFiles: true'),
    runBatch: refuses('E120', 'acceptFiles: true'),
    create: refuses('E120', '--accept-files'),
    firing: refuses('E120', '--accept-files'),
    into: asks('E120', '--accept-files'),
    append: refuses('E120', 'acceptFiles: true'),
    retry: OLD_BATCH,
    retryCall: OLD_BATCH,
    watch: refuses('E120', '--accept-files'),
  },
  changedRows: {
    run: NEW_BATCH,
    submit: NEW_BATCH,
    plan: NEW_BATCH,
    start: NEW_BATCH,
    runBatch: NEW_BATCH,
    create: NEW_BATCH,
    firing: NEW_BATCH,
    into: { does: 'refuses', code: 'E533' },
    append: { does: 'refuses', code: 'E533' },
    retry: never('`--set` names what is bought again'),
    retryCall: never('`set` names what is bought again'),
    watch: never('a save is the wish of its user: they are sent again'),
  },
  boughtBefore: {
    run: NEW_BATCH,
    submit: NEW_BATCH,
    plan: NEW_BATCH,
    start: NEW_BATCH,
    runBatch: NEW_BATCH,
    create: NEW_BATCH,
    firing: NEW_BATCH,
    into: ADDS,
    append: ADDS,
    retry: asks('E602', '--yes'),
    retryCall: refuses('E602', 'mayBuyTwice: true'),
    watch: ADDS,
  },
  settings: {
    run: says,
    submit: says,
    plan: never('it changes nothing'),
    start: says,
    runBatch: never('a call with the same `callId` is the same call'),
    create: NEW_BATCH,
    firing: NEW_BATCH,
    into: { does: 'refuses', code: 'E602' },
    append: never('it takes no such settings'),
    retry: never('it takes no such settings'),
    retryCall: never('it takes no such settings'),
    watch: never('said when the batch is continued'),
  },
};
