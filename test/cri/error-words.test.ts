import {expect, test} from 'vitest';
import {hintFor, plainText} from '../../src/cri/error-words.js';

const CREATE = 'failed to create shim task: OCI runtime create failed: runc create failed: unable to start';

test.each([
  [
    'the way to a pod’s files is closed to its users',
    'RunPodSandbox',
    `${CREATE} container process: error during container init: error preparing rootfs: remount-private dst=/root/kcri/runtime/state/rootfs, flags=MS_PRIVATE: permission denied`,
    'chmod o+x',
  ],
  [
    'a volume’s file system can’t map ids',
    'StartContainer',
    `${CREATE} container process: error during container init: failed to fulfil mount request: failed to set MOUNT_ATTR_IDMAP on /sys: invalid argument (maybe the filesystem used doesn't support idmap mounts on this kernel?)`,
    'whose file system can map ids',
  ],
])('the hint says what to do when %s', (_, method, details, advice) => {
  const hint = hintFor({method, endpoint: 'unix:///run/a.sock', grpcCode: 'UNKNOWN', details});
  expect(hint).toContain(advice);
  expect(hint).toContain('hostUsers: false');
});

test.each(['UNKNOWN', 'UNAVAILABLE'])(
  'a runtime that is not ready yet (%s) can be asked again',
  (grpcCode) => {
    const failure = {grpcCode, details: 'server is not initialized yet'};
    expect(plainText(failure)).toBe('the runtime is still starting');
    expect(hintFor({...failure, method: 'ListContainers', endpoint: 'unix:///run/a.sock'})).toContain(
      'again',
    );
  },
);
