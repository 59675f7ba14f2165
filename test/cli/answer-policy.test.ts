import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Printer } from '../../src/cli/context.ts';
import { ask, commandWith, guessLines, policyOf, type Asking } from '../../src/cli/run/answer-policy.ts';
import type { Patch, Question } from '../../src/batches/questions.ts';
import { settle } from '../../src/batches/settle.ts';
import { or, said, toConfirm } from '../../src/sheet/guesses/guess.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';

const EARLIER = {
  id: 'earlier',
  rows: 301,
  done: [{ batch: 'portraits-7f3a', rows: 300, first: [1, 2, 3], isVersionSure: true }],
  unknown: [],
} satisfies Question;

const GUESSES = {
  id: 'guesses',
  sheet: 'my sheet.csv',
  guesses: [
    said('separator', 'separator ;', { delimiter: ';' }),
    toConfirm('rows', 'row 302 ("Total") is a total', { skipRows: [{ from: 302, to: 302 }] }),
    toConfirm('columns', 'column "Promt art" is the input prompt', { map: { prompt: 'Promt art' } }),
  ],
} satisfies Question;

const terminal = () => Object.assign(new PassThrough(), { isTTY: true });

/** The answers that a proposal with these questions gets. */
async function answersTo(questions: readonly Question[], asking: Asking): Promise<readonly Patch[]> {
  const answers: Patch[] = [];
  const proposal = {
    questions,
    shown: undefined,
    with: async (...patches: readonly Patch[]) => {
      answers.push(...patches);
      proposal.questions = [];
    },
    carryOut: async () => answers,
  };
  return (await settle(proposal, policyOf(asking))) as readonly Patch[];
}

type TypedAnswer = { readonly asks?: boolean; readonly args?: readonly string[] };

/** A command on a terminal, before its user has answered. */
function onTerminal(
  questions: readonly Question[],
  { asks = true, args = ['run', 'my sheet.csv', '-d', 'x'] }: TypedAnswer = {},
) {
  const [stdin, stderr] = [terminal(), terminal()];
  const process = { stdin, stderr, argv: ['node', 'runsheet.mjs', ...args] } as unknown as NodeJS.Process;
  const printer = { isTerminal: true } as Printer;
  return { stdin, stderr, choice: answersTo(questions, { printer, process, asks }) };
}

const refusalOf = (questions: readonly Question[], ...args: readonly string[]): Promise<readonly Patch[]> =>
  onTerminal(questions, { asks: false, ...(args.length > 0 && { args }) }).choice;

describe('run on a terminal asks about rows that are done', () => {
  const TEXT =
    '300 of 301 rows are done in portraits-7f3a.\n  r  reuse their results and run 1 row\n  a  run all 301 rows again\n  q  stop\n';

  it.each([
    ['r\n', 'reuse'],
    ['a\n', 'again'],
    ['\nyes\nr\n', 'reuse'],
  ])('and takes the answer %j as %s', async (answer, chosen) => {
    const { stdin, stderr, choice } = onTerminal([EARLIER]);
    for await (const chunk of stderr.iterator({ destroyOnReturn: false }))
      if (String(chunk).includes(TEXT)) break;
    stdin.write(answer);
    expect(await choice).toEqual([{ answers: { earlier: chosen } }]);
  });

  it.each([
    ['q', (stdin: PassThrough) => stdin.write('q\n')],
    ['the end of the input', (stdin: PassThrough) => stdin.end()],
    ['Ctrl-C', (stdin: PassThrough) => stdin.write('\u0003')],
  ])('and %s stops it with both commands', async (_, answer) => {
    const { stdin, stderr, choice } = onTerminal([EARLIER]);
    await once(stderr, 'data');
    answer(stdin);
    await expect(choice).rejects.toMatchObject({
      code: 'E530',
      exit: 2,
      hint: "to reuse their results and run 1 of 301 rows:\n  runsheet run --reuse 'my sheet.csv' -d x\nto run all 301 rows again:\n  runsheet run --again 'my sheet.csv' -d x",
    });
  });

  it('unless the run service does not tell the version of the deployment: then only --reuse reuses them', async () => {
    const done = EARLIER.done.map((row) => ({ ...row, isVersionSure: false }));
    await expect(onTerminal([{ ...EARLIER, done }]).choice).rejects.toMatchObject({
      code: 'E530',
      message: expect.stringContaining('does not report whether the deployment has changed'),
    });
  });

  it('also if they only may have been bought, because their outcome is unknown', async () => {
    const unknown = [{ batch: 'portraits-7f3a', rows: 2, first: [3, 9], isVersionSure: true }];
    await expect(refusalOf([{ ...EARLIER, done: [], unknown }])).rejects.toMatchObject({
      code: 'E530',
      message: '2 rows (3, 9) may have been bought without a known outcome in portraits-7f3a',
    });
  });

  it('but not about rows that are still open: they may be bought at this moment', async () => {
    const open: Question = { id: 'open', open: EARLIER.done };
    await expect(onTerminal([open]).choice).rejects.toMatchObject({ code: 'E531' });
  });

  it('but submit does not ask', async () => {
    await expect(refusalOf([EARLIER])).rejects.toMatchObject({ code: 'E530' });
  });
});

describe('guesses that could spend money wrongly', () => {
  it('end a script with one complete command', async () => {
    await expect(refusalOf([GUESSES])).rejects.toMatchObject({
      code: 'E111',
      exit: 5,
      hint: "if they are right: runsheet run --skip-rows 302 --map 'prompt=Promt art' 'my sheet.csv' -d x",
    });
  });

  it('are confirmed by one yes, and refused by a no', async () => {
    const yes = onTerminal([GUESSES]);
    yes.stdin.end('y\n');
    expect(await yes.choice).toEqual([{ answers: { guesses: 'accept' } }]);
    const no = onTerminal([GUESSES]);
    no.stdin.end('n\n');
    await expect(no.choice).rejects.toMatchObject({
      code: 'E111',
      message: expect.stringContaining('nothing was sent') as string,
      hint: "replace these flags and run it again: --skip-rows 302 --map 'prompt=Promt art'",
    });
    expect(guessLines(GUESSES.guesses).slice(0, 2)).toEqual([
      "  guess     separator ; (--delimiter ';')",
      '  guess ?   row 302 ("Total") is a total (--skip-rows 302)',
    ]);
  });
});

describe('a column of states', () => {
  const where = { where: 'done != "x"' };
  const STATES = {
    id: 'guesses',
    sheet: 'a.csv',
    isChangeable: true,
    guesses: [
      toConfirm('columns', 'column "promt" is the input prompt', { map: { prompt: 'promt' } }),
      {
        ...toConfirm(
          'rows',
          'all rows run, whatever column "done" says',
          { drop: ['done'] },
          or('to run 1 of 2 rows', where),
        ),
        isChoice: true,
      },
    ],
  } satisfies Question;

  it('is not answered by y: the answers say which rows run', async () => {
    const { stdin, stderr, choice } = onTerminal([STATES]);
    stdin.write('y\n1\n');
    expect(await choice).toEqual([{ answers: {}, stated: where }]);
    const text = String(stderr.read());
    expect(text).toContain(`Only you know which rows are to run, and which columns are sent.
  a  to run all rows, and take every other line with a ?: --map prompt=promt --drop done
  1  to run 1 of 2 rows: --where 'done != "x"'
  q  stop
`);
    expect(text).toContain('"y" is no answer: type a, q or 1, then Enter');
  });

  it('runs all rows if its user chooses that, and none if its user stops', async () => {
    const chosen = onTerminal([STATES]);
    chosen.stdin.write('a\n');
    expect(await chosen.choice).toEqual([{ answers: { guesses: 'accept' } }]);
    const stopped = onTerminal([STATES]);
    stopped.stdin.write('q\n');
    await expect(stopped.choice).rejects.toMatchObject({ code: 'E111' });
  });

  it('is refused in a script, also with --yes', async () => {
    await expect(refusalOf([STATES], 'run', 'a.csv', '--yes')).rejects.toMatchObject({
      code: 'E111',
      hint: expect.stringContaining(
        "to choose which rows run, and what is sent, add --where 'done != ",
      ) as string,
    });
  });
});

describe('the commands of a refusal', () => {
  it('are quoted for a shell, and have the flag before everything that may follow', async () => {
    const args = ['submit', '--set', "prompt=it's $5", '--again', '--', '-sheet.csv'];
    await expect(refusalOf([EARLIER], ...args)).rejects.toMatchObject({
      hint: expect.stringContaining(
        String.raw`runsheet submit --reuse --set 'prompt=it'\''s $5' -- -sheet.csv`,
      ),
    });
  });

  it('answer all that is open', async () => {
    const question: Question = { id: 'otherGpu', own: 'A10G', asked: ['H100'], rows: 2 };
    await expect(refusalOf([GUESSES, EARLIER, question])).rejects.toMatchObject({
      code: 'E111',
      hint: "if they are right: runsheet run --skip-rows 302 --map 'prompt=Promt art' --reuse --accept-gpu 'my sheet.csv' -d x",
    });
    const elsewhere: Question = {
      id: 'elsewhere',
      rows: 301,
      others: [{ batch: 'portraits-7f3a', out: '/data/b', rows: 300 }],
    };
    await expect(refusalOf([elsewhere, question], 'run', 'a.csv', '--out', 'here')).rejects.toMatchObject({
      code: 'E539',
      message: '300 of 301 rows are in another folder: portraits-7f3a in /data/b',
      hint: 'to continue that batch in its own folder:\n  runsheet run --out /data/b --accept-gpu a.csv\nto buy these rows again here:\n  runsheet run --again --accept-gpu a.csv --out here',
    });
  });

  it('stand behind both words of a command of a group', () => {
    const argv = ['node', 'runsheet', 'schedule', 'create', 'nightly', 'a.csv', '-d', 'p'];
    expect(commandWith(argv, [['--key', 'sku']])).toBe(
      'runsheet schedule create --key sku nightly a.csv -d p',
    );
  });

  it('replace the rows that the command leaves out', () => {
    const argv = (...flags: readonly string[]) => ['node', 'runsheet', 'run', 'a.csv', ...flags, '--watch'];
    const rows = [['--skip-rows', '2,5']];
    const right = 'runsheet run --skip-rows 2,5 a.csv --watch';
    expect(commandWith(argv('--skip-rows', '2'), rows)).toBe(right);
    expect(commandWith(argv('--skip-rows=2'), rows)).toBe(right);
    expect(commandWith(argv('--skip-rows', '2'), [['--map', 'prompt=Promt art']])).toBe(
      "runsheet run --map 'prompt=Promt art' a.csv --skip-rows 2 --watch",
    );
  });
});

describe('the command for a new batch of rows that a batch has', () => {
  const map = { image: 'my pic', prompt: 'text' };
  const options = {
    map,
    set: {},
    drop: ['note'],
    types: {},
    keyColumn: 'sku',
    gpu: 'H100',
    null: ['-', 'N/A'],
  };
  const file = { sheet: { options } } as unknown as BatchFile;
  const OF_BATCH: Question = { id: 'ofBatch', sheet: 'failures.csv', batch: 'portraits-7f3a', file };
  const refusal = (...more: readonly string[]) =>
    refusalOf([OF_BATCH], 'run', 'failures.csv', '-d', 'x', ...more);

  it('repeats how the batch was mapped, because its results have the columns of its sheet', async () => {
    await expect(refusal()).rejects.toMatchObject({
      code: 'E534',
      hint: expect.stringContaining(
        "  runsheet run --again --gpu H100 --map 'image=my pic' --map prompt=text --drop note --key sku --null -,N/A failures.csv -d x",
      ),
    });
  });

  it('but not what the command says itself', async () => {
    await expect(refusal('--map', 'image=pic', '--key=sku')).rejects.toMatchObject({
      hint: expect.stringContaining(
        '  runsheet run --again --gpu H100 --map prompt=text --drop note --null -,N/A failures.csv -d x --map image=pic --key=sku',
      ),
    });
  });
});

describe('a question on a terminal', () => {
  it('takes an answer in any case, and says what may be typed after Enter or another word', async () => {
    const [stdin, stderr] = [terminal(), terminal()];
    const answer = ask({ stdin, stderr } as unknown as NodeJS.Process, 'Well? [y/n/1] ', {
      y: 1,
      yes: 1,
      n: 2,
      1: 3,
    });
    stdin.write('\nmaybe\n YES \n');
    expect(await answer).toBe(1);
    const text = String(stderr.read());
    expect(text).toContain('Enter alone answers nothing: type y, n or 1, then Enter\n');
    expect(text).toContain('"maybe" is no answer: type y, n or 1, then Enter\n');
  });
});
