// The files of `deploy/` as tests read them.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../..');

export type Manifest = {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
};

/** The objects for Kubernetes. */
export const manifests: readonly Manifest[] = globSync('deploy/kubernetes/**/*.yaml', { cwd: ROOT })
  .sort()
  .flatMap((file) =>
    parseAllDocuments(readFileSync(join(ROOT, file), 'utf8')).map((document) => {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
      return { file, ...(document.toJS() as Omit<Manifest, 'file'>) };
    }),
  );

export function manifest(kind: string, name: string): unknown {
  const match = manifests.find((object) => object.kind === kind && object.metadata.name === name);
  if (match === undefined) throw new Error(`there is no ${kind} ${name}`);
  return match;
}

/** The object without the file that it is from. */
export function plain(withFile: Manifest): Omit<Manifest, 'file'> {
  const { file: _, ...object } = withFile;
  return object;
}
