// The frame of the dashboard: the head with its figures, and a section each for machines, active runs and ended runs.

import type { Dashboard } from '../dashboard.ts';
import { PoolCard, ServerCard } from './machines.tsx';
import { RunCard } from './run-card.tsx';
import { count } from '../../../options/text/printed-numbers.ts';

type PageProps = {
  /** undefined until the first answer. */
  live: Dashboard | undefined;
  /** undefined until the first request has ended. */
  isAnswering: boolean | undefined;
};

export const Page = ({ live, isAnswering }: PageProps) => (
  <>
    <header>
      <div>
        <h1>Local run service</h1>
        <p class="soft" id="behaviour">
          {live && `Behaviour: ${live.behaviour}.`}
        </p>
      </div>
      <dl id="figures">{live && <Figures live={live} />}</dl>
      <State isAnswering={isAnswering} />
    </header>
    <main>
      <section aria-labelledby="machines-title">
        <h2 id="machines-title">Machines</h2>
        <div id="servers">
          {live?.servers.map((server) => (
            <ServerCard key={server.name} {...server} />
          ))}
        </div>
        <div id="pools">
          {live?.pools.map((pool) => (
            <PoolCard key={pool.name} {...pool} />
          ))}
        </div>
      </section>
      <section aria-labelledby="work-title">
        <h2 id="work-title">
          Running{' '}
          <span class="soft" id="work-count">
            {live && shownOf(live)}
          </span>
        </h2>
        <div class="runs" id="atWork">
          {live?.atWork.map((run) => (
            <RunCard key={run.id} {...run} />
          ))}
        </div>
        <p class="soft" id="next">
          {live && nextOf(live)}
        </p>
      </section>
      <section aria-labelledby="ended-title">
        <h2 id="ended-title">Last ended</h2>
        <div class="runs" id="ended">
          {live?.ended.map((run) => (
            <RunCard key={run.id} {...run} />
          ))}
        </div>
      </section>
    </main>
  </>
);

function State({ isAnswering }: Pick<PageProps, 'isAnswering'>) {
  if (isAnswering === undefined) return <p id="state" role="status" />;
  return (
    <p id="state" role="status" class={isAnswering ? 'fine' : 'lost'}>
      {isAnswering ? '● live' : '◌ the service does not answer; the page is out of date'}
    </p>
  );
}

const sumOf = ({ pools }: Dashboard, name: 'waiting' | 'busy' | 'idle'): number =>
  pools.reduce((sum, pool) => sum + pool[name], 0);

function Figures({ live }: { live: Dashboard }) {
  const figures = {
    queued: sumOf(live, 'waiting'),
    running: sumOf(live, 'busy'),
    warm: sumOf(live, 'idle'),
    'runs in total': live.runs,
  };
  return Object.entries(figures).map(([name, value]) => (
    <div key={name}>
      <dt>{name}</dt>
      <dd>{count(value)}</dd>
    </div>
  ));
}

/** How many of the active runs the page shows. */
function shownOf(live: Dashboard): string {
  const shown = live.atWork.length;
  const busy = sumOf(live, 'busy');
  if (busy > shown) return `the first ${shown} of ${count(busy)}`;
  return shown === 0 ? 'nothing' : '';
}

const nextOf = ({ next }: Dashboard): string =>
  next.length === 0
    ? ''
    : `Next in the queue: ${next.map(({ number, words }) => `#${number} ${words}`).join(' · ')}`;
