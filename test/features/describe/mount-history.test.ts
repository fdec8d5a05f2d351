import {expect, test} from 'vitest';
import {mountSection} from '../../../src/features/describe/mount-history.js';
import type {NodeVolume} from '../../../src/kubelet/index.js';

const NOW = Date.parse('2026-01-01T00:10:00Z');

test('a section has the state of each volume and what happened to it', () => {
  const volume: NodeVolume = {
    ...{pod: {uid: 'u1'}, name: 'data', kind: 'csi', driver: 'csi.test', persistentVolume: 'pv1'},
    ...{state: 'published', path: '/p/mount', stagingPath: '/s', isBlock: false},
  };
  const history = {
    ...{name: 'data', volume: 'pv1', plugin: 'kubernetes.io/csi:csi.test', path: '/p/mount'},
    ...{stagedAt: '2026-01-01T00:00:00Z', mountedAt: '2026-01-01T00:00:01Z', mountMs: 1200},
    ...{remountedAt: '2026-01-01T00:05:00Z', failures: 0, totalFailures: 3},
  };
  const failures = {
    count: 3,
    lastFailedAt: '2026-01-01T00:00:00Z',
    lastError: 'exit status 32\nOutput: x\u001b[31m',
  };
  expect(mountSection([{volume, history, failures}], NOW)).toBe(
    [
      'Mounts of Volumes:',
      '  data:',
      '    Kind:               csi (csi.test)',
      '    State:              published',
      '    Persistent Volume:  pv1',
      '    Path:               /p/mount',
      '    Staging Path:       /s',
      '    Staged:             Thu, 01 Jan 2026 00:00:00 +0000 (10m ago)',
      '    Mounted:            Thu, 01 Jan 2026 00:00:01 +0000 (9m59s ago), in 1.2s',
      '    Set Up Again:       Thu, 01 Jan 2026 00:05:00 +0000 (5m ago)',
      '    Failures:           3, last 10m ago',
      String.raw`    Last Error:         exit status 32\nOutput: x\x1b[31m`,
      '',
    ].join('\n'),
  );
  expect(mountSection([], NOW)).toBe('');
});
