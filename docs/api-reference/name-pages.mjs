// TypeDoc names its pages after files; readers know the entry points of the package.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../api');
const PAGES = {
  'src.worker.plugin': { page: 'worker', entry: 'runsheet/worker', title: 'src/worker/plugin' },
  'workflows.application': { page: 'workflow', entry: 'runsheet/workflow', title: 'workflows/application' },
  src: { page: 'runsheet', entry: 'runsheet', title: 'src' },
};

for (const [file, { page }] of Object.entries(PAGES))
  renameSync(join(FOLDER, `${file}.md`), join(FOLDER, `${page}.md`));

for (const name of ['README', ...Object.values(PAGES).map(({ page }) => page)]) {
  const path = join(FOLDER, `${name}.md`);
  let text = readFileSync(path, 'utf8');
  for (const [file, { page, entry, title }] of Object.entries(PAGES))
    text = text
      .replaceAll(`(${file}.md`, `(${page}.md`)
      .replaceAll(`[${title}](`, `[${entry}](`)
      .replace(`# ${title}\n`, `# ${entry}\n`);
  writeFileSync(path, text);
}

const OPTION_TYPES = /^(?:\w*Options|Limits|ColumnMapping|ResultsOfBatch)\n/;

/** Each member of the types whose values a program writes. */
const members = readFileSync(join(FOLDER, 'runsheet.md'), 'utf8')
  .split(/^### /m)
  .filter((one) => OPTION_TYPES.test(one))
  .flatMap((type) => type.split(/^##### /m).slice(1));

/** Whether it has text beside the headings, the signature and the origin. */
const isDescribed = (member) =>
  member
    .split('\n')
    .slice(1)
    .some((line) => /^[^\s>#*]/.test(line) && !/^\[?`/.test(line));

const bare = members.filter((member) => !isDescribed(member)).map((member) => member.split('\n', 1)[0]);
if (members.length === 0 || bare.length > 0)
  throw new Error(`options without a description: ${bare.join(', ') || 'no option was found'}`);
