// Errors of batches whose workflow was ended, reset or forgotten by Temporal.

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Holder } from '../../../src/store/holder.ts';
import { workflowIdOf } from '../../../src/batch/workflow-ids.ts';
import type { LongGround } from '../long-ground.ts';
import { cancelled, forget, terminate, underWay } from '../running-batches.ts';
import type { Provocation } from '../provocation.ts';

/** Lets the folder of a batch say that these servers have it. */
function holdBy({ stage }: LongGround, name: string, holder: Holder | undefined): void {
  const path = stage.path('batches', name, 'started.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), holder }));
}

export const GONE: readonly Provocation<LongGround>[] = [
  {
    code: 'E503',
    name: 'Temporal has forgotten a batch',
    arrange: async (ground) => {
      await underWay(ground, 'forgotten');
      await forget(ground, 'forgotten');
    },
    args: ['resume', 'forgotten'],
    leads: ['E511'],
  },
  {
    code: 'E548',
    name: 'a batch was started on a machine that cannot be asked',
    arrange: async (ground) => {
      await underWay(ground, 'far');
      await forget(ground, 'far');
      holdBy(ground, 'far', {
        kind: 'embedded',
        home: ground.stage.path('far $home'),
        host: 'far',
        pid: 1,
        version: '0.1.0',
      });
    },
    args: ['resume', 'far'],
    says: /was started by other servers, which this command cannot ask: the state folder .*far \$home, from far/,
    // There, too, nothing is known of that machine.
    leads: ['E511', 'E548'],
  },
  {
    code: 'E503',
    name: 'the folder of a batch does not name its servers',
    arrange: async (ground) => {
      await underWay(ground, 'unnamed');
      await forget(ground, 'unnamed');
      holdBy(ground, 'unnamed', undefined);
      rmSync(ground.stage.path('batches', 'unnamed', 'workers'), { recursive: true });
    },
    args: ['resume', 'unnamed'],
    says: /was started by servers that its folder does not name/,
    leads: ['E511'],
  },
  {
    code: 'E502',
    name: 'a batch is in another folder',
    arrange: (ground) => ground.ended('placed'),
    args: ['status', 'placed', '--out', 'my $other'],
    says: /it is in \S+\/batches\n/,
    leads: [0],
  },
  {
    code: 'E508',
    name: 'the workflow of a batch was terminated',
    arrange: async (ground) => {
      await underWay(ground, 'terminated');
      await terminate(ground, 'terminated');
    },
    args: ['resume', 'terminated'],
    leads: ['E511'],
  },
  {
    code: 'E511',
    name: 'requests of a terminated batch may still start runs',
    args: ['resume', 'terminated', '--recover'],
    leads: [0],
    says: /so repeat the same command then/,
  },
  {
    code: 'E506',
    name: 'the workflow is terminated while it is watched',
    arrange: (ground) => underWay(ground, 'watched'),
    args: ['follow', 'watched'],
    meanwhile: { once: /progress state=running/, does: (ground) => terminate(ground, 'watched') },
    leads: [0],
  },
  {
    code: 'E507',
    name: 'a copy of the folder is named',
    arrange: async (ground) => {
      await ground.running('twofold');
      cpSync(ground.stage.path('batches'), ground.stage.path('my $copy'), { recursive: true });
    },
    args: ['wait', 'twofold', '--timeout', '1s', '--out', 'my $copy'],
    leads: [7],
    undo: cancelled('twofold'),
  },
  {
    code: 'E515',
    name: 'the workflow of a batch was reset',
    arrange: async (ground) => {
      await underWay(ground, 'reset');
      const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = ground.stage.environment;
      const reset = `temporal workflow reset --address ${address} -n ${namespace} --type FirstWorkflowTask --reason test`;
      const text = `${reset} -w ${workflowIdOf(ground.batchFile('reset'))}`;
      await ground.worker?.kill();
      await ground.run().run(['bash', text], {});
    },
    args: ['follow', 'reset'],
    // The command has to wait for the new run of the workflow before that ends.
    meanwhile: { once: /progress state=|does not advance/, does: (ground) => ground.stage.worker() },
    leads: ['E511'],
  },
];
