import {Chalk} from 'chalk';
import {expect, test} from 'vitest';
import type {ContainerState} from '../../../../src/api/types/v1-status.js';
import {applyPodStatus, createPodView} from '../../../../src/features/sync/view/pod-view.js';
import {ASCII_TREE, formatTree} from '../../../../src/features/sync/view/tree-lines.js';
import {podUid} from '../../../../src/cri/index.js';
import {aContainerStatus} from '../../../fakes/a-pod.js';

const START = '2026-11-20T14:00:00Z';

test.each<[string, ContainerState, string]>([
  ['that runs', {running: {startedAt: START}}, 'running  75s'],
  [
    'that has ended',
    {terminated: {exitCode: 0, startedAt: START, finishedAt: '2026-11-20T14:00:03Z'}},
    'completed  3s',
  ],
  ['that waits', {waiting: {reason: 'ContainerCreating'}}, 'waiting'],
])('the time of a container %s is that of its run', (_, state, text) => {
  const view = createPodView({namespace: 'default', name: 'web', uid: podUid('u1')}, 0);
  const status = {
    phase: 'Running' as const,
    containerStatuses: [aContainerStatus({name: 'main', state, ready: true})],
  };
  const [, line] = formatTree([applyPodStatus(view, status)], {
    chalk: new Chalk({level: 0}),
    glyphs: ASCII_TREE,
    columns: 80,
    elapsedMs: 0,
    nowMs: Date.parse('2026-11-20T14:01:15Z'),
  });
  expect(line).toBe(`  \`- main  ${text}`);
});
