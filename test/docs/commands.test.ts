// Every command of the pages is one of this version, with flags that exist. Only parsed: placeholders stand for values; as-pasted.long.test.ts runs
// those of the first pages.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'smol-toml';
import { application } from '../../src/cli/command-list.ts';
import { refusal } from '../console/commands-in.ts';
import { jobSchema } from '../json/schemas.ts';
import { ROOT } from './written.ts';

const PAGES = [
  'README.md',
  'SECURITY.md',
  ...globSync('docs/**/*.md', { cwd: ROOT, exclude: ['docs/api/**', 'docs/*/node_modules/**'] }),
];

type Routes = { getAllEntries: () => readonly { name: { original: string }; target: object }[] };
const ROUTES = (application.root as unknown as Routes).getAllEntries();
const NAMES = new Set(ROUTES.map(({ name }) => name.original));
/** Flags of other programs that the pages name alone. */
const FOREIGN = ['--state-dir', '--codec-endpoint'];
const FLAGS = new Set([...ROUTES.flatMap(({ target }) => flagsOf(target)), '--help', ...FOREIGN]);

function flagsOf(target: object): readonly string[] {
  if ('getAllEntries' in target)
    return (target as Routes).getAllEntries().flatMap(({ target: inner }) => flagsOf(inner));
  const { flags = {} } = (target as { parameters: { flags?: object } }).parameters;
  return Object.keys(flags).map(
    (name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );
}

/** The words of one command, as a shell reads them, up to a pipe, a comment or a bracket. */
function wordsOf(text: string): readonly string[] {
  const filled = text
    .replaceAll(/\\?\|[\w|\\-]+/g, '') // keeps the first of a|b
    .replaceAll(/(?<=>) …|[[\]]/g, '') // [-c n] may be left out
    .replaceAll(/<[\w|-]+>|…|\{\w+\}|(?<==)@\S+/g, 'x');
  const [command = ''] = /^(?:'[^']*'|"[^"]*"|[^'"|;&#()<>]|(?<=\S)#)*/.exec(filled) ?? [];
  return [...command.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));
}

const isJob = new Ajv2020({ strict: false, validateFormats: false }).compile(
  JSON.parse(jobSchema()) as object,
);

type Found = { readonly words: readonly string[]; readonly isPart: boolean };

/** The commands of a page: in code blocks, what a shell would run; elsewhere, each text in backticks that begins as a command. */
function commandsOf(page: string): readonly Found[] {
  const blocks: string[] = [];
  const text = page.replaceAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm, (_, language: string, block: string) => {
    if (['', 'sh', 'bash', 'console'].includes(language)) blocks.push(block.replaceAll(/\\\n\s*/g, ' '));
    return '';
  });
  const called = /(?:(?:^|(?<!-n)[\s($])(?:npx )?runsheet|bin\/runsheet\.mjs|^rs) (?=[a-z])(.*)/gm;
  const inBlocks = blocks.flatMap((block) =>
    [...block.matchAll(called)]
      .filter(([whole]) => !whole.includes(': '))
      .map(([, line = '']) => ({ words: wordsOf(line), isPart: false })),
  );
  const inText = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, span = '']) => {
    const [, program = '', line = ''] =
      /^((?:.*(?<!-n)\s)?(?:npx )?runsheet |node bin\/runsheet\.mjs )?(.*)$/.exec(span) ?? [];
    const words = wordsOf(line);
    const isCommand = NAMES.has(words[0] ?? '') && words.some((word) => /^--?[a-z]/.test(word));
    return words[0] !== undefined && (program !== '' || isCommand) ? [{ words, isPart: true }] : [];
  });
  return [...inBlocks, ...inText].filter(({ words: [first = ''] }) => /^[a-z]/.test(first));
}

async function refusedIn(page: string): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const { words, isPart } of commandsOf(page)) {
    const why = await refusal(words, isPart);
    if (why !== undefined) refused.push(`${words.join(' ')}: ${why}`);
  }
  const alone = [...page.matchAll(/`(--[a-z][a-z-]+)/g)].map(([, flag = '']) => flag);
  return [...refused, ...alone.filter((flag) => !FLAGS.has(flag.replace('--no-', '--')) && !FLAGS.has(flag))];
}

it.each(PAGES)('every job file in %s has only keys that a job has', (page) => {
  const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^ *```toml\n([\s\S]*?)^ *```$/gm)];
  const jobs = blocks.map(([, block = '']) => parse(block)).filter((job) => 'deployment' in job);
  expect(jobs.flatMap((job) => (isJob(job) ? [] : isJob.errors))).toEqual([]);
});

it('refuses a flag that does not exist, in a block and between backticks', async () => {
  const page =
    '```\nx=$(runsheet submit a.csv -d b --bogus) || exit\nrunsheet list # all\n```\nor `retry <batch> --bogus`, `--bogus`';
  expect(await refusedIn(page)).toHaveLength(3);
  expect(commandsOf(page).map(({ words }) => words.length)).toEqual([5, 1, 3]);
});

it.each(PAGES)('every command in %s exists, with its flags', async (page) => {
  expect(await refusedIn(readFileSync(join(ROOT, page), 'utf8'))).toEqual([]);
});
