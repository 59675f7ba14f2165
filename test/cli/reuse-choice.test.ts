import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Printer } from '../../src/cli/context.ts';
import { chooseInto, chooseReuse } from '../../src/cli/run/reuse-choice.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import type { SharedRows } from '../../src/create-batch/reuse/overlap.ts';

const SHARED = {
  rows: 301,
  done: [{ batch: 'portraits-7f3a', rows: 300, first: [1, 2, 3], isVersionSure: true }],
  open: [],
  unknown: [] as readonly SharedRows[],
};

const terminal = () => Object.assign(new PassThrough(), { isTTY: true });

type Given = { readonly asks?: boolean; readonly shared?: typeof SHARED; readonly args?: readonly string[] };

/** A command on a terminal, before its user has answered. */
function onTerminal({ asks = true, shared = SHARED, args = ['run', 'my sheet.csv', '-d', 'x'] }: Given = {}) {
  const [stdin, stderr] = [terminal(), terminal()];
  const process = { stdin, stderr, argv: ['node', 'runsheet.mjs', ...args] } as unknown as NodeJS.Process;
  const printer = { isTerminal: true } as Printer;
  return { stdin, stderr, choice: chooseReuse({ printer, process, asks, reuse: false }, shared) };
}

describe('run on a terminal asks about rows that are done', () => {
  const QUESTION =
    '300 of 301 rows are done in portraits-7f3a.\n  r  reuse their results and run 1 row\n  a  run all 301 rows again\n  q  stop\n';

  it.each([
    ['r\n', 'reuse'],
    ['a\n', 'again'],
    ['\nyes\nr\n', 'reuse'],
  ])('and takes the answer %j as %s', async (answer, chosen) => {
    const { stdin, stderr, choice } = onTerminal();
    for await (const chunk of stderr.iterator({ destroyOnReturn: false }))
      if (String(chunk).includes(QUESTION)) break;
    stdin.write(answer);
    expect(await choice).toBe(chosen);
  });

  it.each([
    ['q', (stdin: PassThrough) => stdin.write('q\n')],
    ['the end of the input', (stdin: PassThrough) => stdin.end()],
    ['Ctrl-C', (stdin: PassThrough) => stdin.write('\u0003')],
  ])('and %s stops it with both commands', async (_, answer) => {
    const { stdin, stderr, choice } = onTerminal();
    await once(stderr, 'data');
    answer(stdin);
    await expect(choice).rejects.toMatchObject({
      code: 'E530',
      exit: 2,
      hint: "to reuse their results and run 1 of 301 rows:\n  runsheet run --reuse 'my sheet.csv' -d x\nto run all 301 rows again:\n  runsheet run --again 'my sheet.csv' -d x",
    });
  });

  it('unless the run service does not tell the version of the deployment: then only --reuse reuses them', async () => {
    const done = SHARED.done.map((one) => ({ ...one, isVersionSure: false }));
    await expect(onTerminal({ shared: { ...SHARED, done } }).choice).rejects.toMatchObject({
      code: 'E530',
      message: expect.stringContaining('does not tell whether the deployment has changed'),
    });
  });

  it('also if they only may have been bought, because their outcome is unknown', async () => {
    const unknown = [{ batch: 'portraits-7f3a', rows: 2, first: [3, 9], isVersionSure: true }];
    await expect(
      onTerminal({ asks: false, shared: { ...SHARED, done: [], unknown } }).choice,
    ).rejects.toMatchObject({
      code: 'E530',
      message: '2 rows (3, 9) may have been bought without a known outcome in portraits-7f3a',
    });
  });

  it('but submit does not ask', async () => {
    await expect(onTerminal({ asks: false }).choice).rejects.toMatchObject({ code: 'E530' });
  });
});

describe('the commands of a refusal', () => {
  it('are quoted for a shell, and have the flag before everything that may follow', async () => {
    const args = ['submit', '--set', "prompt=it's $5", '--again', '--', '-sheet.csv'];
    await expect(onTerminal({ asks: false, args }).choice).rejects.toMatchObject({
      hint: expect.stringContaining(
        String.raw`runsheet submit --reuse --set 'prompt=it'\''s $5' -- -sheet.csv`,
      ),
    });
  });
});

describe('the command for a new batch of rows that a batch has', () => {
  const options = { map: { image: 'my pic' }, set: {}, drop: ['note'], types: {}, keyColumn: 'sku' };
  const batch = { batch: 'portraits-7f3a', file: { sheet: { options } } as unknown as BatchFile };
  const refusal = (...more: readonly string[]) => {
    const argv = ['node', 'runsheet.mjs', 'run', 'failures.csv', '-d', 'x', ...more];
    const process = { argv } as unknown as NodeJS.Process;
    const asking = { printer: { isTerminal: false } as Printer, process, asks: false };
    return chooseInto(asking, { ...batch, name: 'failures.csv' });
  };

  it('repeats how the batch was mapped, because its results have the columns of its sheet', async () => {
    await expect(refusal()).rejects.toMatchObject({
      code: 'E534',
      hint: expect.stringContaining(
        "  runsheet run --again --map 'image=my pic' --drop note --key sku failures.csv -d x",
      ),
    });
  });

  it('but not what the command says itself', async () => {
    await expect(refusal('--map', 'image=pic', '--key=sku')).rejects.toMatchObject({
      hint: expect.stringContaining(
        '  runsheet run --again --drop note failures.csv -d x --map image=pic --key=sku',
      ),
    });
  });
});
