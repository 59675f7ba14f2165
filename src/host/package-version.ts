// The version of this package.

import { readFileSync } from 'node:fs';

/** Beside the sources in a clone, one folder further up in a package. */
const MANIFEST = import.meta.url.endsWith('.ts') ? '../../package.json' : '../../../package.json';

export const { version } = JSON.parse(readFileSync(new URL(MANIFEST, import.meta.url), 'utf8')) as {
  readonly version: string;
};
