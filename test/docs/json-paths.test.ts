// Paths in the JSON of a batch that pages tell their readers to watch.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { batchSchema } from '../../src/cli/json/batch-json.ts';

const DOCS = join(import.meta.dirname, '../../docs');

type Shape = { readonly properties?: Readonly<Record<string, Shape>>; readonly anyOf?: readonly Shape[] };

const inside = ({ properties, anyOf = [] }: Shape, name: string): Shape | undefined =>
  properties?.[name] ?? anyOf.flatMap((shape) => inside(shape, name) ?? [])[0];

const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
const PATHS = pages.flatMap((page) =>
  [...readFileSync(join(DOCS, page), 'utf8').matchAll(/`(progress(?:\.\w+)+)`/g)].map(([, path = '']) => ({
    page,
    path,
  })),
);

it.each(PATHS)('$path, of which $page speaks, is in the JSON of a batch', ({ path }) => {
  const shape = path
    .split('.')
    .reduce<Shape | undefined>((at, name) => at && inside(at, name), z.toJSONSchema(batchSchema) as Shape);
  expect(shape).toBeDefined();
});

it('some page names such a path', () => {
  expect(PATHS.length).toBeGreaterThan(2);
});
