// The style and the script of each page are built from TSX: small, the same bytes each time, and never older than their sources.

import { appendFileSync, chmodSync, readdirSync, statSync } from 'node:fs';
import { Script } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { pageFiles, type PageFiles } from '../../../src/host/page-files.ts';
import { at, cloneWith, copyPages, node } from '../../cli/bundled-clone.ts';

describe('a built page', () => {
  let buildPages: () => Promise<Readonly<Record<'report', Pick<PageFiles, 'style' | 'script'>>>>;
  let pages: Awaited<ReturnType<typeof buildPages>>;
  beforeAll(async () => {
    ({ buildPages } = await import(new URL('../../../bin/pages.mjs', import.meta.url).href));
    pages = await buildPages();
  });

  it('has the same bytes when it is built twice', async () => {
    expect(await buildPages()).toEqual(pages);
  });

  it('is what the report of this clone carries', async () => {
    expect(await pageFiles('report')).toMatchObject(pages.report);
  });

  it('has a script of at most 140 kB that parses and cannot end its own element', () => {
    for (const { script } of Object.values(pages)) {
      expect(Buffer.byteLength(script)).toBeLessThan(140_000);
      expect(() => new Script(script)).not.toThrow();
      expect(script).not.toMatch(/<\/script|<!--/i);
    }
  });

  it('names the licences of its libraries', () => {
    expect(pages.report.script).toMatch(/^\n\/\*! preact: MIT, .*uPlot: MIT, .* \*\/\n/);
  });
});

describe('the pages of a clone', () => {
  cloneWith(copyPages);
  const KEPT = 'node_modules/.cache/runsheet/pages';
  const STYLE = 'src/results/page/browser/style.css';
  const end = (): string =>
    node(
      '--input-type=module',
      '--eval',
      `const { pagesOfClone } = await import(${JSON.stringify(`file://${at('bin/pages.mjs')}`)});
      process.stdout.write((await pagesOfClone()).report.style.trimEnd().slice(-9));`,
    );

  it('are built once, and again after a source has changed', () => {
    end();
    expect(readdirSync(at(KEPT))).toHaveLength(1);
    end();
    expect(readdirSync(at(KEPT))).toHaveLength(1);
    appendFileSync(at(STYLE), '/* new */\n');
    expect(end()).toBe('/* new */');
    expect(readdirSync(at(KEPT))).toHaveLength(2);
  });

  it('are not taken from a folder where other users may write', () => {
    end();
    const [folder = ''] = readdirSync(at(KEPT));
    appendFileSync(at(KEPT, folder, 'report.css'), '/* bad */\n');
    expect(end()).toBe('/* bad */');
    chmodSync(at(KEPT, folder), 0o777);
    expect(end()).not.toBe('/* bad */');
  });

  it('can be written by nobody who cannot write the packages', () => {
    node(
      '--eval',
      `process.umask(0); process.argv[1] = ${JSON.stringify(at('bin/pages.mjs'))}; import(process.argv[1])`,
    );
    const [folder = ''] = readdirSync(at(KEPT));
    const writers = (path: string): number => statSync(path).mode & 0o022;
    for (const path of [at(KEPT, folder), at(KEPT, folder, 'report.js')])
      expect(writers(path)).toBe(writers(at('node_modules')));
  });
});
