// The command of a program as its user named it: files get absolute paths, every other word stays as it is.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { editIn, keepProgram, keptProgram, nameProgram } from '../../src/host/settings/named-program.ts';
import { refuseUnknown, setNotes } from '../../src/host/state-folder.ts';
import { withNamedPrograms } from '../../src/library/register-own-gpus.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const ENVIRONMENT = { PATH: process.env['PATH'] };

const named = (command: string, folder: string) => nameProgram({ command, folder }, ENVIRONMENT);

/** The words that a shell passes on, in this working directory. */
function wordsAt(command: string, cwd: string): readonly string[] {
  const program = `set -- ${command}; for word do printf '%s\\0' "$word"; done`;
  const { stdout, status } = spawnSync('/bin/sh', ['-c', program], { cwd, encoding: 'utf8', env: {} });
  if (status !== 0) throw new Error(`no words: ${command}`);
  return stdout.split('\0').slice(0, -1);
}

it('words that name files become absolute paths, which are quoted where the shell would split them', () => {
  const folder = join(freshFolder(), "it's a folder");
  mkdirSync(join(folder, 'models'), { recursive: true });
  for (const name of ['gen.py', 'config.yaml', 'models/a.bin']) writeFileSync(join(folder, name), name);
  const { command, name, files } = named(
    'sh gen.py --config "config.yaml" models/a.bin ./models/ 8 word',
    folder,
  );
  expect(wordsAt(command, '/')).toEqual([
    'sh',
    join(folder, 'gen.py'),
    '--config',
    join(folder, 'config.yaml'),
    join(folder, 'models/a.bin'),
    join(folder, 'models'),
    '8',
    'word',
  ]);
  expect(name).toBe('gen');
  expect(Object.keys(files)).toEqual(
    ['gen.py', 'config.yaml', 'models/a.bin'].map((file) => join(folder, file)),
  );
});

it('a word that names nothing, and one with a meaning for the shell, is never changed', () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'gen.py'), '');
  const word = fc.oneof(
    fc.stringMatching(/^[a-z0-9@%+=:,._-]{1,8}$/).filter((text) => text !== 'gen.py'),
    fc.constantFrom(
      '$HOME',
      '"$X"',
      "'a b'",
      '"a  b"',
      '`pwd`',
      '$(pwd)',
      '*',
      '?.py',
      '~',
      '>x',
      '2>&1',
      '|',
      '&&',
      ';',
      '#',
      'a\\ b',
      "'gen'.py",
      '"$(cat gen.py)"',
      'é',
      'x=gen.py',
    ),
  );
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 6 }),
      fc.array(fc.constantFrom(' ', '  ', '\t'), { minLength: 6, maxLength: 6 }),
      (words, gaps) => {
        const more = words.map((text, at) => `${gaps[at] ?? ' '}${text}`).join('');
        expect(named(`sh${more}`, folder).command).toBe(`sh${more}`);
      },
    ),
  );
});

it('a shell sees the same words in another folder as in that of the user, with absolute paths', () => {
  const folder = join(freshFolder(), 'a b');
  mkdirSync(folder);
  const names = ['gen.py', 'two words.txt', "it's", 'plain'];
  for (const name of names) writeFileSync(join(folder, name), '');
  const quotedWord = fc
    .oneof(fc.constantFrom(...names), fc.stringMatching(/^[ -~]{0,8}$/))
    .map((text) => ({ text, shown: `'${text.replaceAll("'", `'\\''`)}'` }));
  const doubled = fc.constantFrom(...names).map((text) => ({ text, shown: `"${text}"` }));
  fc.assert(
    fc.property(fc.array(fc.oneof(quotedWord, doubled), { maxLength: 5 }), (words) => {
      const { command } = named(['sh', ...words.map(({ shown }) => shown)].join(' '), folder);
      const shellWords = wordsAt(command, '/');
      expect(shellWords).toHaveLength(words.length + 1);
      for (const [at, { text }] of words.entries())
        expect([text, join(folder, text)]).toContain(shellWords[at + 1]);
    }),
    { numRuns: 60 },
  );
});

it('an edit, a removal and the way back are noticed by content', () => {
  const folder = freshFolder();
  const path = join(folder, 'gen.py');
  writeFileSync(path, 'one');
  const { files } = named('sh gen.py', folder);
  expect(editIn(files)).toBe(undefined);
  writeFileSync(path, 'three');
  expect(editIn(files)).toBe(`${path} has changed since the program was named`);
  writeFileSync(path, 'one');
  expect(editIn(files)).toBe(undefined);
});

it('equal programs have one id, and an edited script, another folder or another secret another one', () => {
  const [folder, programs] = [freshFolder(), join(freshFolder(), 'programs')];
  writeFileSync(join(folder, 'gen.py'), 'one');
  const keep = (more: object = {}, environment = {}): string =>
    keepProgram(
      programs,
      nameProgram({ command: 'sh gen.py', folder, ...more }, { ...ENVIRONMENT, ...environment }),
    );
  const id = keep();
  expect([keep(), keep({}, { LANG: 'de_DE.UTF-8' })]).toEqual([id, id]);
  const variants = [
    keep({ secrets: ['HF_TOKEN'] }),
    keep({}, { VIRTUAL_ENV: '/venv' }),
    keep({ command: 'sh  gen.py' }),
  ];
  writeFileSync(join(folder, 'gen.py'), 'two');
  expect(new Set([id, ...variants, keep()]).size).toBe(5);
  expect(keptProgram(programs, id).command).toBe(`sh ${join(folder, 'gen.py')}`);
});

it('a command whose first word the shell has to fill in is not looked up, and its files are found', () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'gen.py'), '');
  const { command, name } = named('"$VIRTUAL_ENV/bin/python" gen.py', folder);
  expect([command, name]).toEqual([`"$VIRTUAL_ENV/bin/python" ${join(folder, 'gen.py')}`, 'gen']);
});

it('a command that nobody finds, an empty one and a wrong schema are refused with E602', () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'gen.py'), '');
  writeFileSync(join(folder, 'gen.inputs.json'), '{');
  for (const [command, what] of [
    ['pythn gen.py', 'pythn, which is not there'],
    ['./gone.sh', './gone.sh, which is not there'],
    ['', 'has no command'],
    ['  ', 'has no command'],
    ['sh gen.py', 'cannot be read as a JSON Schema'],
  ] as const)
    expect(() => named(command, folder)).toThrow(what);
});

it('is kept in a state folder that counts as made here', async () => {
  const home = join(freshFolder(), '.runsheet');
  setNotes(home, freshFolder());
  onTestFinished(() => setNotes(home, undefined));
  const programs = [{ command: 'true', folder: freshFolder() }];
  await withNamedPrograms(
    { servers: [], workflows: [], programs, gpus: ['0'] },
    { home, environment: ENVIRONMENT },
  );
  expect(() => refuseUnknown(home)).not.toThrow();
});
