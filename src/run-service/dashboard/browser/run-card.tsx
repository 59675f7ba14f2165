// A run on the dashboard: its picture, or the sign of its status and how far it is.

import type { Dashboard } from '../dashboard.ts';
import { span } from '../../../options/text/printed-numbers.ts';

type DashboardRun = Dashboard['atWork'][number];
type StatusText = readonly [kind: 'wait' | 'work' | 'good' | 'bad' | 'odd', sign: string, words: string];

const STATUSES = new Map<string, StatusText>([
  ['not-started', ['wait', '○', 'waits']],
  ['queued', ['work', '◔', 'boots']],
  ['started', ['work', '◑', 'starts']],
  ['running', ['work', '▶', 'runs']],
  ['uploading', ['work', '▲', 'uploads']],
  ['success', ['good', '✓', 'success']],
  ['failed', ['bad', '✕', 'failed']],
  ['timeout', ['bad', '⧖', 'timeout']],
  ['cancelled', ['odd', '⊘', 'cancelled']],
]);

export const Progress = ({ number, progress }: Pick<DashboardRun, 'number' | 'progress'>) => (
  <progress aria-label={`progress of run ${number}`} max={1} value={progress} />
);

export function RunCard(run: DashboardRun) {
  const { id, number, status, picture, deployment, gpu, seconds, words } = run;
  const [kind, sign, statusWords] = STATUSES.get(status) ?? ['odd', '?', status];
  return (
    <article class={kind} title={id}>
      <div class="frame">
        {picture === '' ? (
          <span class="sign" aria-hidden="true">
            {sign}
          </span>
        ) : (
          <img alt={`picture of run ${number}`} width={160} height={160} src={picture} />
        )}
        {kind === 'work' && <span class="doing">{run.doing}</span>}
        {kind === 'work' && <Progress {...run} />}
      </div>
      <p class="line">
        <b>
          {picture !== '' && `${sign} `}
          {statusWords}
        </b>
        <span class="soft">#{number}</span>
      </p>
      <p class="words">{words}</p>
      <p class="soft">{[deployment, gpu, span(seconds)].join(' · ')}</p>
    </article>
  );
}
