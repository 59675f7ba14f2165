// Creates and checks the state folder, which contains keys and the addresses of our servers. In a shared folder such as /tmp
// another user could create it first with a known key, so a folder that others can write is refused.

import { problem } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import { takeOwnFolder, type FolderFault } from './own-folder.ts';

type Text = { readonly reason: string; readonly hint: string };

const ELSEWHERE = 'set RUNSHEET_HOME to a folder of your own';

/** Creates the folder and makes it private. Throws E606 if other users may have written to it. */
export function takeStateFolder(home: string): void {
  const fault = takeOwnFolder(home);
  if (fault !== undefined) throw problem('E606', { path: home, ...TEXTS[fault](home) });
}

const TEXTS: Readonly<Record<FolderFault, (home: string) => Text>> = {
  link: () => ({ reason: 'it is a symbolic link', hint: 'set RUNSHEET_HOME to the folder itself' }),
  stranger: (home) => ({
    reason: 'it belongs to another user, who may know the keys in it',
    hint: `${ELSEWHERE}; if you trust its content: chown ${process.getuid?.()} ${shellWord(home)}`,
  }),
  writable: (home) => ({
    reason: 'other users can write to it, and may have placed their key there',
    hint: `${ELSEWHERE}; if you trust its content: chmod 700 ${shellWord(home)}`,
  }),
};
