// A batch that another command is rebuilding (R36): its workers refuse to send and to store. Neither the service nor the folder is
// to blame, so this has a pause of its own. The pause is an entry of the log, whose write is the probe.
//
//   refused ──▶ paused: elsewhere ──a write is taken──▶ continues: the rebuild was given up, or `resume` has taken the batch back
//                                 ──the other execution is entered──▶ this workflow ends (E515)

import { clipped } from '../../options/text/clipped.ts';
import { REASON_BYTES } from '../bounds.ts';
import { pause } from '../pausing/pauses.ts';
import type { State } from '../state/state.ts';

/** Pauses the batch if its workers refused because of a rebuild. In earlier versions, they seem to fail. */
export function pauseIfElsewhere(
  state: State,
  { heldElsewhere }: { readonly heldElsewhere?: string },
): boolean {
  if (heldElsewhere === undefined || state.version < 6) return false;
  pause(state, 'elsewhere', clipped(heldElsewhere, REASON_BYTES));
  return true;
}
