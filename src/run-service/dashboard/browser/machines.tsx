// The machines of a deployment, and the user's own GPU servers.

import type { Dashboard } from '../dashboard.ts';
import { Progress } from './run-card.tsx';
import { count, span } from '../../../options/text/printed-numbers.ts';

type DashboardPool = Dashboard['pools'][number];
type DashboardServer = Dashboard['servers'][number];

const MAX_CELLS = 64;
const SERVER_KINDS = { busy: 'work', idle: 'good', away: 'bad', asked: 'odd' };
const SERVER_WORDS = { busy: 'busy', idle: 'idle', away: 'does not answer', asked: 'has not answered yet' };

const Heading = ({ name, note }: { name: string; note: string }) => (
  <h3>
    <span>{name}</span>
    <span class="soft">{note}</span>
  </h3>
);

export const PoolCard = ({ name, gpu, limit, busy, idle, waiting }: DashboardPool) => (
  <div class="pool">
    <Heading name={name} note={gpu} />
    <div class="cells" aria-hidden="true">
      {Array.from({ length: Math.min(limit, MAX_CELLS) }, (_, nth) => (
        <i key={nth} class={nth < busy ? 'busy' : nth < busy + idle ? 'idle' : 'free'} />
      ))}
    </div>
    <p>
      {busy} running, {idle} warm, at most {limit}
      {waiting > 0 && `; ${count(waiting)} queued`}
    </p>
  </div>
);

export function ServerCard({ name, gpu, version, state, seconds, reason, run }: DashboardServer) {
  const note = [gpu, version && `ComfyUI ${version}`].filter(Boolean).join(' · ');
  return (
    <div class="pool">
      <Heading name={name} note={note} />
      <p class={SERVER_KINDS[state]}>
        <b>{SERVER_WORDS[state]}</b>
        {seconds !== null && ` for ${span(seconds)}`}
        {reason && `: ${reason}`}
      </p>
      <p>{run && `#${run.number} ${run.deployment}${run.doing && `: ${run.doing}`}`}</p>
      {run && <Progress {...run} />}
    </div>
  );
}
