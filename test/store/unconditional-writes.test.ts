// Files that are written without a condition: a request that arrives late, or a worker that was frozen, may write them once more. So
// their names must determine their content. All others are written with `create`, `update` or the draft of a view.

import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOT, textOf } from '../source-imports.ts';

/** Where, which file, and why it may be. */
const ALLOWED: readonly (readonly [file: string, name: string, why: string])[] = [
  ['activities/describe-member.ts', 'own', 'empty, only to see whether it can be written'],
  ['src/cli/servers/cluster-checks.ts', 'file', 'empty, only to see who sees it'],
  ['activities/fetch-file.ts', 'path', 'the file of a run'],
  ['src/create-batch/reuse/file-copies.ts', 'to.name', 'the file of a run'],
  ['src/results/page/small-copies.ts', 'smallCopyOf(path)', 'made of the file of a run'],
  ['activities/keep-records.ts', 'evidenceName(number)', 'a number is used once'],
  ['src/results/event-files.ts', 'eventsName(number)', 'a number is used once'],
  ['src/sheet/placed-rows.ts', 'queueName(this.#lane, this.#page)', 'in the layout of a mark'],
  ['src/sheet/pages.ts', 'name', 'in the layout of a mark'],
  [
    'src/create-batch/reuse/reuse-rows.ts',
    '`${REUSED}/${partName(REUSED_PASS, part)}`',
    'in the layout of a mark',
  ],
  ['src/create-batch/reuse/reuse-rows.ts', 'COPIES', 'in the layout of a mark'],
  ['src/create-batch/from/write-rows.ts', 'name', 'a sheet of this command'],
  ['src/sheet/validation-errors.ts', 'place.file', 'for whom has just given the sheet'],
];

const WRITE =
  /(?:(?<![\w#])(?:batches|to|into)|\b(?:store|layout)|openStore)(?:\([^()]*\))*\.(?:write|draft)\(\s*/g;

/** The first argument that begins here, and whether a second one says that it is a view. */
function argumentAt(text: string): { readonly name: string; readonly isView: boolean } {
  let depth = 0;
  const end = text.split('').findIndex((letter) => {
    if ('([{'.includes(letter)) depth += 1;
    if (')]}'.includes(letter)) depth -= 1;
    return depth < 0 || (depth === 0 && letter === ',');
  });
  return { name: text.slice(0, end).trim(), isView: /^,\s*'view'/.test(text.slice(end)) };
}

it('only files whose names determine their content are written without a condition', () => {
  const files = globSync('{src,activities}/**/*.ts', { cwd: ROOT }).filter(
    (file) => !file.startsWith('src/store/s3') && !/^src\/store\/(?:within|folder|store)\.ts$/.test(file),
  );
  const found = files.flatMap((file) => {
    const text = textOf(file);
    return [...text.matchAll(WRITE)]
      .map((match) => argumentAt(text.slice(match.index + match[0].length)))
      .filter(({ isView }) => !isView)
      .map(({ name }) => `${file}: ${name}`);
  });
  expect([...new Set(found)].toSorted()).toEqual(
    ALLOWED.map(([file, name]) => `${file}: ${name}`).toSorted(),
  );
});
