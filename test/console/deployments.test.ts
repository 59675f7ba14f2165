// deployments lists what can be run; and a GPU that the service may ignore is not asked for unknowingly.

import { parse } from 'csv-parse/sync';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Console } from './console.ts';
import { realConsole } from './real-service.ts';

const SHEET = 'prompt,gpu\na,H100\nb,\nc,A10G\n';

describe('deployments', () => {
  it('lists names, GPUs, time limits and inputs, and marks those that are required', async () => {
    const console = await Console.open();
    const { code, stdout, stderr } = await console.run('deployments');
    expect([code, stdout.trimEnd().split('\n')]).toEqual([
      0,
      [
        'DEPLOYMENT  GPU   TIME LIMIT  INPUTS',
        'free        A10G  5 min       prompt*',
        'portraits   A10G  5 min       prompt*, seed, style',
      ],
    ]);
    expect(stderr).toBe('* required\n  inputs    runsheet deployments free\n');
  });

  it('explains no mark that it does not show', async () => {
    const { stderr } = await (await Console.open([{ name: 'old' }])).run('deployments');
    expect(stderr).toBe('  inputs    runsheet deployments old\n');
  });

  it('shows the inputs of one, the first line of a sheet, and a run command that is ready', async () => {
    const console = await Console.open();
    const { stdout, stderr } = await console.run('deployments', 'portraits');
    expect(stdout).toMatch(/^prompt +string +required$/m);
    expect(stdout).toMatch(/^seed +integer +7 +from 0$/m);
    expect(stdout).toMatch(/^style +string +plain +plain, oil$/m);
    expect(stdout).toContain('first line of a sheet: prompt,seed,style\n');
    const [, line = ''] = /^ {2}run +runsheet (.+)/m.exec(stderr) ?? [];
    expect(stderr).toContain('  sheet     runsheet deployments portraits --sheet > portraits-template.csv\n');
    const { stdout: template } = await console.run('deployments', 'portraits', '--sheet');
    expect(parse(template, { columns: true })).toEqual([{ prompt: '', seed: '7', style: 'plain' }]);
    const sheet = console.write('prompts.csv', template.replace(/^,/m, 'a fox,'));
    const words = line.replace('portraits-template.csv', sheet).split(' ');
    expect((await console.run('plan', ...words.slice(1))).code).toBe(0);
  });
});

describe('the sheet of a deployment', () => {
  it('is written into a file that no user has, and never over one that is there', async () => {
    const console = await Console.open([
      { name: 'Lä/mp $x', inputTypes: [{ name: 'prompt', type: 'string' }] },
    ]);
    const before = process.cwd();
    process.chdir(console.folder);
    onTestFinished(() => process.chdir(before));
    for (const file of ['La-mp-x-template.csv', 'La-mp-x-template-2.csv']) {
      const { stderr } = await console.run('deployments', 'Lä/mp $x');
      expect(stderr).toContain(` --sheet > ${file}\n`);
      console.write(file, 'prompt\na\n');
    }
  });

  it('is refused if the deployment has no inputs by name, and no command that writes it is printed', async () => {
    const console = await Console.open([{ name: 'old' }, { name: 'fixed', inputTypes: [] }]);
    for (const name of ['old', 'fixed']) {
      expect((await console.run('deployments', name)).stderr).not.toMatch(/ > /);
      const { code, stdout, stderr } = await console.run('deployments', name, '--sheet');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/E602[^]*has no columns for (?:old|fixed)/);
    }
  });
});

describe('a GPU that the service may ignore', () => {
  async function real(): Promise<Console> {
    const console = await realConsole();
    console.write('gpus.csv', SHEET);
    return console;
  }

  it('is named by plan', async () => {
    const console = await real();
    const plan = ['plan', `${console.folder}/gpus.csv`, '-d', 'portraits'];
    const { code, stderr } = await console.run(...plan);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('1 row asks for H100, but the deployment has A10G'),
    ]);
    const { stdout } = await console.run(...plan, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ gpus_may_be_ignored: true });
  });

  it('is refused in a script with the command that accepts it, which then goes on', async () => {
    const console = await real();
    const submit = ['submit', `${console.folder}/gpus.csv`, '-d', 'portraits'];
    const refused = await console.run(...submit);
    expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('error[E314]')]);
    expect(refused.stderr).toContain(`  runsheet submit --accept-gpu ${submit.slice(1).join(' ')}\n`);
    const accepted = await console.run(...submit, '--accept-gpu');
    expect(accepted.stderr).toContain('error[E401]');
    expect((await console.run('list', '-o', 'json')).stdout).toBe('[]\n');
  });

  it('is asked about on a terminal', async () => {
    const console = await real();
    console.isTerminal = true;
    const run = ['run', `${console.folder}/gpus.csv`, '-d', 'portraits'];
    console.typed = 'n\n';
    expect((await console.run(...run)).stderr).toContain('error[E314]');
    console.typed = 'y\n';
    expect((await console.run(...run)).stderr).toContain('error[E401]');
  });
});
