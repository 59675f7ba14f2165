import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { agreeOnTerminal, completeCommand, guessLines, type AgreeParams } from '../../src/cli/run/guesses.ts';
import { said, toConfirm } from '../../src/sheet/guesses/guess.ts';

const GUESSES = [
  said('separator', 'separator ;', '--delimiter', ';'),
  toConfirm('rows', 'row 302 ("Total") is a total', '--skip-rows', '302'),
  toConfirm('columns', 'column "Promt art" is the input prompt', '--map', 'prompt=Promt art'),
];

type Shown = { readonly lines: readonly string[]; readonly thrown: unknown };

/** What a user who answers `answer` sees; without an answer, there is no terminal. */
async function shownTo(answer?: string): Promise<Shown> {
  const lines: string[] = [];
  const stdin = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  stdin.end(`${answer ?? ''}\n`);
  const printer = { isTerminal: answer !== undefined, notice: (line: string) => lines.push(line) };
  const argv = ['node', 'runsheet', 'run', 'my sheet.csv', '-d', 'portraits'];
  const process = { argv, stdin, stderr: new PassThrough() };
  const params = { printer, process, sheet: 'my sheet.csv', asks: true } as unknown as AgreeParams;
  try {
    await agreeOnTerminal(params, GUESSES);
    return { lines, thrown: undefined };
  } catch (thrown) {
    return { lines, thrown };
  }
}

describe('guesses that could spend money wrongly', () => {
  it('end a script with one complete command', async () => {
    const { lines, thrown } = await shownTo();
    expect(lines).toEqual([]);
    expect(thrown).toMatchObject({
      code: 'E111',
      exit: 5,
      hint: "if they are right: runsheet run 'my sheet.csv' -d portraits --skip-rows 302 --map 'prompt=Promt art'",
    });
  });

  it('replace the rows that the command leaves out', () => {
    const rows = [toConfirm('rows', 'row 5 ("Total") is a total', '--skip-rows', '2,5')];
    const argv = (...flags: readonly string[]) => ['node', 'runsheet', 'run', 'a.csv', ...flags, '--watch'];
    const right = 'runsheet run a.csv --watch --skip-rows 2,5';
    expect(completeCommand(argv('--skip-rows', '2'), rows)).toBe(right);
    expect(completeCommand(argv('--skip-rows=2'), rows)).toBe(right);
    expect(completeCommand(argv('--skip-rows', '2'), GUESSES.slice(2))).toBe(
      "runsheet run a.csv --skip-rows 2 --watch --map 'prompt=Promt art'",
    );
  });

  it('are shown on a terminal with all others, and one yes confirms them', async () => {
    const { lines, thrown } = await shownTo('y');
    expect([lines, thrown]).toEqual([guessLines(GUESSES), undefined]);
    expect(lines.slice(0, 2)).toEqual([
      "  guess     separator ; (--delimiter ';')",
      '  guess ?   row 302 ("Total") is a total (--skip-rows 302)',
    ]);
  });

  it('are refused by a no', async () => {
    expect((await shownTo('n')).thrown).toMatchObject({
      code: 'E111',
      message: expect.stringContaining('nothing is sent') as string,
      hint: "repeat the command with what is right instead of: --skip-rows 302 --map 'prompt=Promt art'",
    });
  });
});
