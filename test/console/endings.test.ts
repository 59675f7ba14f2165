// Every command ends by saying what to do next: lines of a word and a complete command, on stderr, and only with text. Commands
// that need servers are in test/cli.

import { rmSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { commandsIn, wordsOf } from '../errors/printed-commands.ts';
import { openQuickGround } from '../errors/quick-ground.ts';
import { Recorded, recordOf } from '../printed/recorded.ts';
import { Console } from './console.ts';
import { refusal } from './commands-in.ts';
import { endBatch } from './ended-batch.ts';

const NEXT = /^ {2}(\w+) +runsheet (.+)$/;

/** Commands that need Temporal, or a run at the service; next.long.test.ts pastes them. */
const NEEDS_SERVERS: ReadonlySet<string> = new Set(['run', 'retry', 'resume', 'follow', 'logs']);

/** The last lines, without the lines before them. */
function nextOf(stderr: string): readonly string[] {
  const lines = stderr.trimEnd().split('\n');
  const from = lines.findLastIndex((line) => !NEXT.test(line));
  return lines.slice(from + 1).map((line) => NEXT.exec(line)?.slice(1, 3).join(': ') ?? '');
}

async function scene(): Promise<Console> {
  const console = await Console.open();
  const sheet = console.write('sheet.csv', 'prompt\na\nb\n');
  await endBatch(await console.batch(sheet, 'done'));
  await endBatch(await console.batch(sheet, 'twin'));
  return console;
}

const RETRIED = ['again: retry twin', 'open: open twin', 'export: export twin --as xlsx'];

describe('the end of a command names the next ones', () => {
  const ENDINGS: readonly (readonly [command: string, ...next: readonly string[]])[] = [
    ['list', 'status: status twin'],
    ['status', ...RETRIED],
    ['follow', ...RETRIED],
    ['rows', 'show: show twin 1'],
    ['rows --outcome unknown', 'rows: rows twin'],
    ['show 1', 'log: logs twin 1'],
    ['show done 2', 'again: retry done --row 2', 'log: logs done 2'],
    ['results', 'export: export twin --as xlsx'],
    ['export', 'open: open twin'],
    ['export --as csv --file -', 'open: open twin'],
    ['open --no-open', 'export: export twin --as xlsx'],
    ['compare done twin', 'open: open twin'],
    ['events', 'open: open twin'],
    ['verify --no-lists', 'open: open twin'],
    ['retry twin --outcome unknown', 'rows: rows twin'],
    ['pause twin', ...RETRIED],
    ['cancel twin', ...RETRIED],
    ['resume twin', ...RETRIED],
    ['clean', 'older: clean --older-than 30d'],
    ['clean --older-than 300d', 'batches: list'],
    ['deployments', 'inputs: deployments free'],
    [
      'deployments portraits',
      'sheet: deployments portraits --sheet > portraits-template.csv',
      'plan: plan portraits-template.csv -d portraits',
      'run: run portraits-template.csv -d portraits',
    ],
    [
      'deployments portraits --sheet',
      'plan: plan portraits-template.csv -d portraits',
      'run: run portraits-template.csv -d portraits',
    ],
    [
      'deployments portraits',
      'sheet: deployments portraits --sheet > portraits-template-2.csv',
      'plan: plan portraits-template-2.csv -d portraits',
      'run: run portraits-template-2.csv -d portraits',
    ],
    ['clean --older-than 0d', 'remove: clean --older-than 0d --yes'],
  ];

  it('which are pasted in that state, and work', async () => {
    const { ground: console, run, paste } = await openQuickGround(() => scene());
    const recorded = new Recorded();
    for (const [command, ...next] of ENDINGS) {
      const { stderr } = await console.run(...command.split(' '));
      expect(nextOf(stderr), command).toEqual(next);
      for (const printed of commandsIn(stderr)) {
        const [[verb = '', ...words] = []] = wordsOf(printed);
        const isPasted = !NEEDS_SERVERS.has(verb);
        const code = isPasted ? (await paste(printed, 0, {})).code : await refusal([verb, ...words]);
        expect(code || undefined, printed).toBeUndefined();
        if (isPasted) recorded.add(stderr, printed);
        // Fills in the template as its user would.
        const [, template] = / > (\S+-template\S*)$/.exec(printed) ?? [];
        if (template !== undefined) console.write(template, 'prompt\na fox\n');
      }
    }
    console.write('runsheet.toml', 'task_queue = "eu"\n');
    const { stderr } = await console.run('trust');
    expect(nextOf(stderr)).toEqual(['forget: trust --forget']);
    expect((await paste('runsheet trust --forget', 0, {})).code).toBe(0);
    recorded.add(stderr, 'runsheet trust --forget');
    rmSync('runsheet.toml');
    const { folder } = await console.batch(console.write('sheet.csv', 'prompt\na\n'), 'elsewhere');
    vi.stubEnv('RUNSHEET_OUT', 'another');
    const listed = await console.run('list');
    expect(nextOf(listed.stderr)).toEqual([`list: list --out ${console.out}`]);
    for (const printed of commandsIn(listed.stderr)) {
      expect((await paste(printed, 0, {})).stdout).toContain('elsewhere');
      recorded.add(listed.stderr, printed);
    }
    vi.stubEnv('RUNSHEET_OUT', console.out);
    rmSync(folder, { recursive: true });
    await expect(recorded.text).toMatchFileSnapshot(recordOf('endings'));
    expect((await run(['list'], {})).stderr).toBe(
      'no batches here yet\n  rehearse  runsheet run <sheet> -d portraits --local\n',
    );
  });

  it('plan: the same flags run the sheet', async () => {
    const console = await Console.open();
    const sheet = console.write('my sheet.csv', 'prompt\na\n');
    const flags = ['-d', 'portraits', '-c', '3', '--set', 'seed=5'];
    const { stderr } = await console.run('plan', sheet, ...flags);
    expect(stderr).toContain('nothing was sent\n');
    expect(nextOf(stderr)).toEqual([`run: run '${sheet}' -d portraits -c 3 --set seed=5`]);
    expect((await console.run('plan', sheet, ...flags, '-q')).stderr).toBe('');
  });

  it('retry of rows that were paid for: the same command with --yes', async () => {
    const { code, stderr } = await (await scene()).run('retry', 'done', '--outcome', 'succeeded');
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/\n {2}runsheet retry --yes done --outcome succeeded\n$/),
    ]);
  });

  it('a folder without batches', async () => {
    const console = await Console.open();
    expect((await console.run('list')).stderr).toBe(
      'no batches here yet\n  rehearse  runsheet run <sheet> -d portraits --local\n',
    );
  });

  it('a batch that was never started', async () => {
    const console = await Console.open();
    await console.batch(console.write('sheet.csv', 'prompt\na\n'), 'open');
    for (const command of ['pause open', 'retry open'])
      expect(nextOf((await console.run(...command.split(' '))).stderr)).toEqual(['continue: resume open']);
    expect(nextOf((await console.run('events')).stderr)).toEqual(['follow: follow open']);
  });

  it('names the folder of batches that the command was given', async () => {
    const console = await scene();
    const place = `--out ${console.out}`;
    const { stderr } = await console.run('status', ...place.split(' '));
    expect(nextOf(stderr)).toEqual([
      `again: retry twin ${place}`,
      `open: open twin ${place}`,
      `export: export twin ${place} --as xlsx`,
    ]);
    expect(nextOf((await console.run('clean', '--older-than', '300d', ...place.split(' '))).stderr)).toEqual([
      `batches: list ${place}`,
    ]);
  });

  it('-o json: is for programs, and names none', async () => {
    const console = await scene();
    const own = ['list', 'status', 'rows', 'export', 'events', 'clean', 'deployments'];
    for (const command of [...own, 'show 1', 'compare done twin', 'pause twin']) {
      const { stdout, stderr } = await console.run(...command.split(' '), '-o', 'json');
      expect(() => JSON.parse(stdout) as unknown, command).not.toThrow();
      expect(nextOf(stderr), command).toEqual([]);
    }
  });

  it('wait: is silent but for the closing line', async () => {
    const console = await scene();
    expect((await console.run('wait')).stderr).toMatch(/^2 rows, .* estimated\n$/);
  });

  it('follow -q: says nothing', async () => {
    const console = await scene();
    expect((await console.run('follow', '-q')).stderr).toBe('');
  });
});
