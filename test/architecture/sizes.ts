// Measures the sizes that a reader feels: node test/architecture/sizes.ts [folder of another clone] prints them side by side.

import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const PRODUCT = ['src', 'workflows', 'activities', 'bin'];

export type Sizes = Readonly<Record<(typeof NAMES)[number], number>>;
const NAMES = [
  'lines of the product',
  'lines of tests',
  'lines that runsheet prints',
  'lines of run --help',
  'flags of run',
  'bytes of README.md',
  'bytes of ARCHITECTURE.md',
] as const;

export function sizesOf(folder = ROOT): Sizes {
  const help = linesOf(folder, ['run', '--help', 'all']);
  return {
    'lines of the product': linesIn(folder, PRODUCT),
    'lines of tests': linesIn(folder, ['test']),
    'lines that runsheet prints': linesOf(folder, []).length,
    'lines of run --help': linesOf(folder, ['run', '--help']).length,
    'flags of run': help.filter((line) => /^ +(?:-\w, )?--[a-z]/.test(line)).length,
    'bytes of README.md': statSync(join(folder, 'README.md')).size,
    'bytes of ARCHITECTURE.md': statSync(join(folder, 'ARCHITECTURE.md')).size,
  };
}

/** The lines of all tracked source files below these folders. */
function linesIn(folder: string, below: readonly string[]): number {
  const files = execFileSync('git', ['ls-files', '--', ...below], { cwd: folder, encoding: 'utf8' });
  return files
    .split('\n')
    .filter((file) => /\.(?:tsx?|mjs)$/.test(file))
    .reduce((sum, file) => sum + readFileSync(join(folder, file), 'utf8').split('\n').length - 1, 0);
}

function linesOf(folder: string, words: readonly string[]): readonly string[] {
  const program = join(folder, 'bin', 'runsheet.mjs');
  const text = execFileSync(process.execPath, [program, ...words], { encoding: 'utf8', cwd: folder });
  return text.trimEnd().split('\n');
}

if (process.argv[1] === import.meta.filename) {
  const folders = [...process.argv.slice(2), ROOT];
  const sizes = folders.map((folder) => sizesOf(folder));
  for (const name of NAMES)
    process.stdout.write(
      `${name.padEnd(30)}${sizes.map((each) => String(each[name]).padStart(10)).join('')}\n`,
    );
}
