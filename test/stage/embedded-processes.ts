// The processes of the embedded servers, as they write themselves down in the state folder.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './stage.ts';

/** The process of the embedded servers of this state folder, once it runs. */
export async function pidInStack(home: string, name: 'worker' | 'service' | 'stack'): Promise<number> {
  let pid: number | undefined;
  await until(() => {
    const file = join(home, 'embedded.json');
    if (!existsSync(file)) return false;
    const record = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { readonly pid?: number }> & {
      readonly pid?: number;
    };
    pid = name === 'stack' ? record.pid : record[name]?.pid;
    return pid !== undefined;
  }, `the ${name} runs`);
  return pid ?? 0;
}
