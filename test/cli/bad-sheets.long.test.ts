import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { commandsIn } from '../errors/printed-commands.ts';
import { installedIn, ownEnvironment } from '../stage/command.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Stage } from '../stage/stage.ts';

describe('a bad sheet', () => {
  const stage = sharedStage((newStage) => newStage.service());

  it('ends with 5, its code and its place, starts no run and leaves no batch', async () => {
    stage.write('bad.csv', 'prompt,seed\na,1\nb,many\n');
    const ended = await stage.run(['run', 'bad.csv', '-d', 'portraits']);
    const says = /error\[E202\][^]*"many" in column "seed" is not/;
    expect(ended).toMatchObject({ code: 5, stdout: '', stderr: expect.stringMatching(says) });
    expect(ended.stderr).toContain('bad.csv:3:2');
    expect(ended.stderr).not.toMatch(/\n\s+at /);
    expect(await stage.truth()).toEqual([]);
    const left = existsSync(stage.path('batches')) ? readdirSync(stage.path('batches')) : [];
    expect(
      left.filter((name) => !name.startsWith('.') && existsSync(stage.path('batches', name, 'batch.json'))),
    ).toEqual([]);
  });
});

const INPUTS = [
  { name: 'prompt', type: 'string', required: true },
  { name: 'image', type: 'image' },
  { name: 'steps', type: 'int', min: 1 },
  { name: 'sampler', type: 'string', options: ['euler', 'dpmpp_2m'] },
];

const SCENES = 'a harbour at dawn, seen from above';

/** How many printed commands a script pastes one after another. */
const MAX_PASTED = 2;

/**
 * The requests that reach the service when a script runs the command as it was printed. A command that maps a
 * column skips no rows: if it is refused for some, the one that is printed then leaves them out.
 */
async function sentBy(stage: Stage, command: string): Promise<readonly unknown[]> {
  const bin = dirname(installedIn(stage.path('bin')));
  const env = { ...ownEnvironment(), ...stage.environment, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const paste = (text: string) => promisify(execFile)('bash', ['-c', text], { cwd: stage.folder, env });
  let text = command;
  for (let pasted = 1; pasted < MAX_PASTED; pasted += 1) {
    const refused = await paste(text).then(
      () => undefined,
      (error: unknown) => error as { readonly stderr: string },
    );
    if (refused === undefined) break;
    text =
      commandsIn(refused.stderr)
        .at(-1)
        ?.replace(/^runsheet run/, 'runsheet plan') ?? '';
  }
  const { stdout } = await paste(`${text} -o json`);
  const { requests } = JSON.parse(stdout) as { readonly requests: readonly string[] };
  return requests.map((request) => (JSON.parse(request) as { readonly inputs: unknown }).inputs);
}

describe('the last command that plan prints works when a script has it', () => {
  const stage = sharedStage(async (newStage) => {
    newStage.write('deployments.json', deploymentsOf({ inputTypes: INPUTS }));
    await newStage.service(['--deployments', newStage.path('deployments.json')]);
  });

  it.each([
    [
      'commas without quotes, and missing cells',
      'a.csv',
      'prompt,steps,sampler\na fox, red,20,euler\nan owl\n',
      [{ prompt: 'a fox, red', sampler: 'euler', steps: 20 }, { prompt: 'an owl' }],
    ],
    [
      'samplers by their numbers, another name of an input, and a row that is out of range',
      'b.csv',
      'prompt,step,sampler\na,20,8\nb,0,8\nc,30,8\n',
      [
        { prompt: 'a', steps: 20 },
        { prompt: 'c', steps: 30 },
      ],
    ],
    [
      'no column for the prompt, several pictures in a cell, and a row without text',
      'c.csv',
      `Shot description,image\n"${SCENES}","https://a.example/1.png,https://a.example/2.png"\n,https://a.example/3.png\n`,
      [{ image: 'https://a.example/1.png', prompt: SCENES }],
    ],
    [
      'lines of a batch of OpenAI',
      'd.jsonl',
      `{"custom_id":"x","body":{"input":"${SCENES}"}}\n`,
      [{ prompt: SCENES }],
    ],
    [
      'comments and a comma too many in JSON',
      'e.jsonl',
      '// two\n{"prompt":"a","steps":3}\n{"prompt":"b",}\n{"prompt":"c"}\n',
      [{ prompt: 'a', steps: 3 }, { prompt: 'c' }],
    ],
  ])('%s', async (_, name, text, inputs) => {
    stage.write(name, text);
    const { stderr } = await stage.run(['plan', name, '-d', 'portraits']);
    const printed = commandsIn(stderr).at(-1) ?? '';
    expect(await sentBy(stage, printed.replace(/^runsheet run/, 'runsheet plan'))).toEqual(inputs);
    // A script may buy at once: it is refused with the same command, or there is none to give.
    if (!printed.startsWith('runsheet plan')) return;
    const refused = await stage.run(['run', name, '-d', 'portraits']);
    expect(commandsIn(refused.stderr).at(-1)).toBe(printed.replace('plan', 'run'));
  });
});
