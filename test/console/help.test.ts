import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { application } from '../../src/cli/command-list.ts';
import { execute } from '../../src/cli/main.ts';

async function page(...words: readonly string[]): Promise<string> {
  let printed = '';
  const stdout = { write: (text: string) => (printed += text) };
  const stub = Object.assign(new EventEmitter(), { stdout, stderr: stdout, env: {} });
  expect(await execute(words, { process: stub as never, program: 'runsheet' })).toBe(0);
  return printed;
}

/** The words of all commands that help shows, with the names of their flags. */
function commands(map: object = application.root, before: readonly string[] = []): [string[], string[]][] {
  if (!('getAllEntries' in map)) {
    const { parameters } = map as { parameters: { flags?: Record<string, { hidden?: boolean }> } };
    const shown = Object.entries(parameters.flags ?? {}).filter(([, { hidden }]) => hidden !== true);
    return [[[...before], shown.map(([name]) => name)]];
  }
  const { getAllEntries } = map as {
    getAllEntries: () => { hidden: boolean; name: object; target: object }[];
  };
  return getAllEntries()
    .filter(({ hidden }) => !hidden)
    .flatMap(({ name, target }) =>
      commands(target, [...before, (name as Record<string, string>)['convert-camel-to-kebab'] ?? '']),
    );
}

describe('help', () => {
  it.each(commands())('of %j fits 80 columns, and with all has every flag', async (words, flags) => {
    const [short, full] = [await page(...words, '--help'), await page(...words, '--help', 'all')];
    expect(`${short}${full}`.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const kebab = flags.map((flag) => flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    expect(kebab.filter((flag) => !new RegExp(`--(no-)?${flag}\\b`).test(full))).toEqual([]);
  });

  it('of pick begins each line of its usage with what it needs, and that of run names jobs', async () => {
    const usage = (await page('pick', '--help')).split('\n').slice(0, 3);
    expect(usage.map((line) => line.replace(/ --.*/, ''))).toEqual(
      Array.from({ length: 3 }, () => '  runsheet pick <pipeline> <stage>'),
    );
    expect(await page('run', '--help')).toContain('nightly.job.toml');
  });

  it('of run fits a screen, with two examples and the flag that shows all', async () => {
    const lines = (await page('help', 'run')).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(45);
    expect(lines).toContain('  runsheet run prompts.csv -d portraits --local');
    expect(lines.at(-1)).toMatch(/^All \d+ flags: runsheet run --help all$/);
  });

  it('of the program begins with a first day, and is what the program alone prints', async () => {
    const printed = await page();
    expect(printed).toContain('The first day\n  runsheet run prompts.csv -d portraits --local');
    const lines = printed.trimEnd().split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(60);
    expect(await page('--help')).toBe(printed);
    expect(printed).toContain('HTTPS_PROXY');
  });
});
