// The Python module of programs that stay, in programs that a service starts.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PYTHON_FOLDER } from '../../src/host/python-folder.ts';
import { filesOf, has, ProgramService } from './program-service.ts';

const HAS_PYTHON = has('python3');

/** A program that stays with these lines in its loop. */
async function looping(lines: readonly string[], before: readonly string[] = []): Promise<ProgramService> {
  const scene = await ProgramService.open();
  const script = [
    'import os, runsheet',
    'folder = os.environ["RUNSHEET_FOLDER"]',
    'open(folder + "/loaded", "a").write("loaded\\n")',
    ...before,
    'for run in runsheet.runs():',
    ...lines.map((line) => `    ${line}`),
  ];
  writeFileSync(scene.path('stays.py'), `${script.join('\n')}\n`);
  await scene.name('python3 stays.py', { request: { stays: true } });
  return scene;
}

const loads = (scene: ProgramService): number => scene.lines('loaded').length;

it.skipIf(!HAS_PYTHON)(
  'a script saves bytes, texts, data and pictures, by name or by kind, without an installation',
  async () => {
    const scene = await looping(
      [
        'run.progress(0.5)',
        'run.save(Picture())',
        'run.save(Result())',
        'run.save(b"\\x00\\x01", "raw.bin")',
        'run.save("a text")',
        'run.save({"seed": run.inputs["seed"]})',
        'open("direct.txt", "w").write("by the working directory")',
      ],
      [
        'class Picture:',
        '    def save(self, path):',
        '        assert path.endswith(".png"), path',
        '        open(path, "wb").write(open(folder + "/whole.png", "rb").read())',
        'class Result:',
        '    images = [Picture(), Picture()]',
      ],
    );
    const run = await scene.ended({ seed: 7 });
    expect([await scene.own.log(run.id), run.status]).toEqual([expect.any(String), 'success']);
    expect(filesOf(run)).toEqual([
      'data.json',
      'direct.txt',
      'picture-2.png',
      'picture-3.png',
      'picture.png',
      'raw.bin',
      'text.txt',
    ]);
  },
);

it.skipIf(!HAS_PYTHON)(
  'an exception in the loop is the error of its run, and the program is loaded again',
  async () => {
    const scene = await looping([
      'if run.inputs["n"] == 1: raise ValueError("no such style: blue")',
      'run.save("x")',
    ]);
    const first = await scene.ended({ n: 1 });
    expect([first.status, (await scene.ended({ n: 2 })).status, loads(scene)]).toEqual([
      'failed',
      'success',
      2,
    ]);
    expect(await scene.own.log(first.id)).toContain('ValueError: no such style: blue');
  },
);

it.skipIf(!HAS_PYTHON)('a program that takes a while to exit gets no run meanwhile', async () => {
  const scene = await looping(
    ['if run.inputs["n"] == 1: raise ValueError("no such style: blue")', 'run.save("x")'],
    ['import atexit, time', 'atexit.register(time.sleep, 1)'],
  );
  const ends = [await scene.ended({ n: 1 }), await scene.ended({ n: 2 })];
  expect([...ends.map(({ status }) => status), loads(scene)]).toEqual(['failed', 'success', 2]);
});

it.skipIf(!HAS_PYTHON)(
  'an exception within "with run" is the error of its run, and the model stays loaded',
  async () => {
    const scene = await looping(['with run:', '    run.save(f"{1 / run.inputs[\'n\']}")']);
    const first = await scene.ended({ n: 0 });
    expect([first.status, (await scene.ended({ n: 2 })).status, loads(scene)]).toEqual([
      'failed',
      'success',
      1,
    ]);
    expect(await scene.own.log(first.id)).toContain('ZeroDivisionError: division by zero');
  },
);

it.skipIf(!HAS_PYTHON)('a loop that is left, and one that exits, fail the run in hand', async () => {
  const scene = await looping(['if run.inputs["n"] == 1: break', 'raise SystemExit(0)']);
  for (const n of [1, 2]) {
    const run = await scene.ended({ n });
    expect(run.status).toBe('failed');
    expect(await scene.own.log(run.id)).toContain('the program ended before this run was done');
  }
});

it.skipIf(!HAS_PYTHON)(
  'a child of the program does not read the next run, and a name leads to no other folder',
  async () => {
    const scene = await looping([
      'import subprocess',
      'run.save(subprocess.run(["cat"], capture_output=True, text=True).stdout + "x")',
      'try: run.save("x", "../x.txt")',
      'except ValueError as error: run.save(str(error), "refused.txt")',
    ]);
    const runs = [];
    for (const id of [await scene.own.queue({}), await scene.own.queue({})])
      runs.push(await scene.own.until(id));
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(runs.map(filesOf)).toEqual([
      ['refused.txt', 'text.txt'],
      ['refused.txt', 'text.txt'],
    ]);
  },
);

it.skipIf(!HAS_PYTHON)('a half file of a program that dies while it saves is no output', async () => {
  const scene = await looping(
    ['run.save(Half())'],
    [
      'class Half:',
      '    def save(self, path):',
      '        open(path, "wb").write(b"half")',
      '        os._exit(5)',
    ],
  );
  const run = await scene.ended();
  expect([run.status, filesOf(run)]).toEqual(['failed', []]);
});

it.skipIf(!HAS_PYTHON)('a program that runsheet has not started says how to start it', () => {
  const { status, stderr } = spawnSync('python3', ['-c', 'import runsheet; runsheet.runs()'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PYTHONPATH: PYTHON_FOLDER },
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining('--stays')]);
});

it('the module needs no newer Python than 3.9, and imports its standard library only', () => {
  const text = readFileSync(`${PYTHON_FOLDER}/runsheet/runs.py`, 'utf8');
  const imports = text.split('\n').flatMap((line) => /^(?:import|from) (\w+)/.exec(line)?.[1] ?? []);
  expect(imports.toSorted()).toEqual(['atexit', 'json', 'os', 'sys', 'traceback', 'typing']);
  expect(text).not.toMatch(/\bmatch \w+:|: \w+ \| \w+/);
});
