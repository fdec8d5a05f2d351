import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import type {PodCondition, PodStatus} from '../../../src/api/types/v1-status.js';
import {killOptions} from '../../../src/kubelet/daemon/node-manager-services.js';
import {aPod} from '../../fakes/a-pod.js';
import {FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';

type PodPhase = NonNullable<PodStatus['phase']>;

/** What the kubelet asks for at the end of a pod of a node that shuts down. */
interface Kill extends Pick<PodStatus, 'phase' | 'reason' | 'message'> {
  readonly id: string;
  readonly before: PodPhase;
  readonly condition: PodCondition;
  readonly gracePeriodSeconds: number;
}

const ORACLE = new URL('../managers/shutdown/shutdown.jsonl', import.meta.url);

/** All kills of the cases of the kubelet's own code. */
const KILLS = readFileSync(ORACLE, 'utf8')
  .trim()
  .split('\n')
  .flatMap((line) => {
    const {
      id,
      kills = [],
      pods = [],
    } = JSON.parse(line) as {
      readonly id: string;
      readonly kills?: readonly (Kill & {readonly pod: string})[];
      readonly pods?: readonly {readonly name: string; readonly phase: PodPhase}[];
    };
    return kills.map((kill): Kill => {
      const before = pods.find(({name}) => name === kill.pod)?.phase ?? 'Pending';
      return {...kill, id: `${id} ${kill.pod}`, before};
    });
  });

test.each(KILLS)('$id ends with the status of the kubelet', (kill) => {
  const {gracePeriodSeconds, reason = '', message = ''} = kill;
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const options = killOptions(aPod(), {gracePeriodSeconds, reason, message}, clock);
  expect(options).toMatchObject({evict: false, gracePeriodSeconds});
  expect(options.status?.({phase: kill.before})).toEqual({
    ...{phase: kill.phase, reason, message},
    conditions: [{...kill.condition, lastTransitionTime: '2026-05-01T12:00:00Z'}],
  });
});
