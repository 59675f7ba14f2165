// Reads the next pass that a user asked for, one after another: rows that have an outcome and are sent again.

import type { Command } from '../commands.ts';
import type { State } from '../state/state.ts';
import { dueIf, type Decision } from './decision.ts';

export const loadPass: Decision = {
  name: 'load-pass',
  dueAt: (state) => dueIf(wantsPass(state) && !state.isLoadingPass),
  act: (state) => {
    state.isLoadingPass = true;
    return [passCommand(state)];
  },
};

export const passCommand = ({ pass }: State): Command => ({ type: 'loadPass', pass: pass + 1 });

export const wantsPass = ({ pass, wantedPass, closing }: State): boolean => pass < wantedPass && !closing;
