// npm run docs: writes the parts of the docs that come from data.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageWith, PARTS, ROOT } from './written.ts';

for (const part of PARTS) writeFileSync(join(ROOT, part.page), pageWith(part).shall);
