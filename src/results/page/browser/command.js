// Commands as this user can give them: as the program was called, and with the folder in which the batch is now.

import { joined, shellWord } from './text.js';

/** @typedef {{ batch: string, program: string, out?: string | undefined }} Called `out`: where the batches are, if the page does not know it */

/** @type {(called: Called, verb: string, more?: string) => string} */
export function commandOf({ batch, program, out }, verb, more = '') {
  const place = ownPlace() ?? out;
  return joined([program, verb, shellWord(batch), place && `--out ${shellWord(place)}`, more], ' ');
}

/** A text with commands, with the program's name as it was called. @type {(text: string, program: string) => string} */
export const asCalled = (text, program) => text.replaceAll(/(?<![\w./-])runsheet(?= [a-z])/g, () => program);

/** A page that was opened from its folder knows where it is. */
function ownPlace() {
  if (location.protocol !== 'file:') return undefined;
  const folder = decodeURIComponent(location.pathname).split('/').slice(0, -2).join('/');
  return folder.replace(/^\/(?=[A-Za-z]:)/, '') || '/';
}
