// A user who pastes what is printed, unread: no command that `plan` prints about a small sheet loses a row or a cell that its
// owner filled in, unless a question of its own has said so.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Console } from '../../console/console.ts';
import { commandsIn, wordsOf } from '../../errors/printed-commands.ts';
import { OWNED, type OwnedSheet } from './owners.ts';

const SHEETS = join(import.meta.dirname, 'sheets');
const DEPLOYMENTS = JSON.parse(readFileSync(join(SHEETS, 'deployments.json'), 'utf8')) as readonly object[];

/** A picture of one pixel. */
const PICTURE = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAAC', 'base64');

/** Commands that a user pastes one after the other before giving up. */
const PASTES = 12;

/** Each request is JSON. */
type PrintedPlan = { readonly requests: readonly string[] };
type Request = { readonly inputs: Readonly<Record<string, unknown>> };

/** The values of a request, as texts. */
const valuesOf = (inputs: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.values(inputs).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));

/** The rows and cells that the owner means and the requests lack. */
function losses({ rows }: OwnedSheet, { requests }: PrintedPlan): readonly string[] {
  if (requests.length !== rows.length) return [`${requests.length} of ${rows.length} rows`];
  return rows.flatMap((row, at) => {
    const values = valuesOf((JSON.parse(requests[at] ?? '{"inputs":{}}') as Request).inputs);
    return Object.entries(row).flatMap(([column, cells]) =>
      [cells]
        .flat()
        .filter(
          (cell) => !values.some((value) => value === cell || (cell.length > 4 && value.includes(cell))),
        )
        .map((cell) => `row ${at + 1}, ${column}: ${cell} (sent: ${values.join(' | ')})`),
    );
  });
}

/** Pastes each printed command, beginning with a plan of the sheet, and returns what was lost without a question. */
async function pasted(sheet: OwnedSheet): Promise<readonly string[]> {
  const console = await Console.open(DEPLOYMENTS);
  const before = process.cwd();
  process.chdir(console.folder);
  onTestFinished(() => process.chdir(before));
  copyFileSync(join(SHEETS, sheet.file), join(console.folder, sheet.file));
  for (const picture of sheet.pictures ?? []) {
    mkdirSync(dirname(join(console.folder, picture)), { recursive: true });
    writeFileSync(join(console.folder, picture), PICTURE);
  }

  const wrong: string[] = [];
  const texts: string[] = [];
  const seen = new Set<string>();
  const open: (readonly string[])[] = [['plan', sheet.file, '-d', sheet.deployment]];
  for (let words = open.shift(); words !== undefined && seen.size < PASTES; words = open.shift()) {
    const command = words.join(' ');
    if (seen.has(command)) continue;
    seen.add(command);
    const [verb = '', ...args] = words;
    if (verb !== 'plan' && verb !== 'run') {
      const { code, stderr } = await console.run(...words);
      if (code !== 0) wrong.push(`runsheet ${command}: ${code} ${stderr}`);
      continue;
    }
    const said = await console.run('plan', ...args);
    texts.push(said.stderr);
    const questions = texts
      .join('\n')
      .split('\n')
      .filter((line) => line.includes('guess ?'));
    if (said.code === 0) {
      const { stdout } = await console.run('plan', ...args, '-o', 'json');
      const lost = losses(sheet, JSON.parse(stdout) as PrintedPlan);
      const isNamed = /\(--invalid skip\)/.test(said.stderr) && sheet.refuses?.test(said.stderr) === true;
      const isAsked = questions.some((line) => sheet.asks?.test(line) === true);
      if (lost.length > 0 && !isAsked && !isNamed) wrong.push(`runsheet ${command} loses ${lost.join('; ')}`);
    }
    if (verb === 'run') continue;
    for (const printed of commandsIn(said.stderr)) open.push(...wordsOf(printed));
  }
  const said = texts.join('\n');
  const isRun = [...seen].some((command) => command.startsWith('run '));
  if (!isRun && sheet.refuses === undefined) wrong.push(`no command runs it: ${said}`);
  if (!isRun && sheet.refuses?.test(said) === false) wrong.push(`not ${sheet.refuses}: ${said}`);
  return wrong;
}

describe('the commands that are printed about', () => {
  it('each small sheet are in the table', () => {
    const files = readdirSync(SHEETS).filter((file) => file !== 'deployments.json');
    expect(OWNED.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
  });

  it.each(OWNED.map((sheet) => [sheet.file, sheet] as const))(
    '%s lose no row and no cell',
    async (_, sheet) => {
      expect(await pasted(sheet)).toEqual([]);
    },
  );
});
