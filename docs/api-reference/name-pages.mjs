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
