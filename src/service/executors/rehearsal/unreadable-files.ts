// Files that a run of the real service could not read are refused, so that a rehearsal does not promise more than the real run keeps.

import { isIP } from 'node:net';
import { isFileType } from '../../../run-service/contract/file-inputs.ts';
import { badValue, type Refusal } from '../../../run-service/contract/refusal.ts';
import { networkOf } from '../../../run-service/networks.ts';

export type Uploads = {
  readonly origin: () => string;
  readonly database: { uploadOf(id: string): { readonly bytes: unknown } | undefined };
};

export const unreadableFiles = (
  types: readonly { readonly name: string; readonly type: string }[],
  inputs: Readonly<Record<string, unknown>>,
  uploads: Uploads,
): readonly Refusal[] =>
  types.flatMap(({ name, type }) => {
    const value = inputs[name];
    if (value === undefined || !isFileType(type)) return [];
    const why = faultOf(value, uploads);
    return why === undefined ? [] : [badValue(['body', 'inputs', name], value, why)];
  });

function faultOf(value: unknown, { origin, database }: Uploads): string | undefined {
  if (typeof value !== 'string') return 'it must be the address of a file';
  if (/^data:[\w.+-]+\//i.test(value)) return undefined;
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'it is no http address, so no run can read it';
  if (value.startsWith(`${origin()}/`)) {
    const [, id] = /^\/files\/uploads\/([^/]+)\//.exec(url.pathname) ?? [];
    return id === undefined || database.uploadOf(id)?.bytes ? undefined : 'there is no such upload';
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isHere = /(?:^|\.)localhost$/i.test(host) || (isIP(host) !== 0 && networkOf(host) !== 'public');
  return isHere ? 'it is an address of this network, which no machine of a run service can read' : undefined;
}
