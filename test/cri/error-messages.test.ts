import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {hintFor, formatPlainMessage} from '../../src/cri/error-messages.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

const CREATE = 'failed to create shim task: OCI runtime create failed: runc create failed: unable to start';

test.each([
  [
    'the users of a pod cannot reach its files',
    'RunPodSandbox',
    `${CREATE} container process: error during container init: error preparing rootfs: remount-private dst=/root/kcri/runtime/state/rootfs, flags=MS_PRIVATE: permission denied`,
    'chmod o+x',
  ],
  [
    'the file system of a volume has no ID-mapped mounts',
    'StartContainer',
    `${CREATE} container process: error during container init: failed to fulfil mount request: failed to set MOUNT_ATTR_IDMAP on /sys: invalid argument (maybe the filesystem used doesn't support idmap mounts on this kernel?)`,
    'must be on a filesystem with ID-mapped mounts',
  ],
])('a hint explains what to do if %s', (_, method, details, advice) => {
  const hint = hintFor({method, endpoint: 'unix:///run/a.sock', grpcCode: 'UNKNOWN', details});
  expect(hint).toContain(advice);
  expect(hint).toContain('hostUsers: false');
});

test.each([
  ['RESOURCE_EXHAUSTED', 'Received message larger than max (4294967295 vs 134217728)'],
  ['RESOURCE_EXHAUSTED', 'Received headers larger than max'],
  ['INTERNAL', 'the response is compressed, which was not requested'],
  ['INTERNAL', 'Failed to decompress gzip-encoded message'],
  ['INTERNAL', 'Call ended without gRPC status'],
  ['INTERNAL', 'Received RST_STREAM with code 2 (Internal server error)'],
  ['UNKNOWN', 'Received HTTP status code 502'],
])('an error of the protocol (%s: %s) names the RPC and the runtime', (grpcCode, details) => {
  const failure = {method: 'StartContainer', endpoint: 'unix:///run/a.sock', grpcCode, details};
  expect(formatPlainMessage(failure)).toBe(
    `invalid response to StartContainer from unix:///run/a.sock: ${details}`,
  );
  expect(hintFor(failure)).toMatch(/faulty|not a CRI runtime/);
});

test.each(['RemoveContainer', 'RemovePodSandbox'])(
  'the hint of %s says how to delete a task that was left',
  (method) => {
    const details =
      'failed to delete containerd container "c1": cannot delete running task c1: failed precondition';
    const failure = {method, endpoint: 'unix:///run/a.sock', grpcCode: 'FAILED_PRECONDITION', details};
    expect(hintFor(failure)).toContain('"ctr -a /run/a.sock -n k8s.io tasks delete c1"');
  },
);

test.each(['UNKNOWN', 'UNAVAILABLE'])('the hint for a starting runtime (%s) is to try again', (grpcCode) => {
  const failure = {
    method: 'ListContainers',
    endpoint: 'unix:///run/a.sock',
    grpcCode,
    details: 'server is not initialized yet',
  };
  expect(formatPlainMessage(failure)).toBe('the runtime is starting');
  expect(hintFor(failure)).toContain('again');
});

test.each([
  ['command error: cannot open\n, stdout: , stderr: , exit code -1', 'cannot open'],
  [
    'could not find container "c1": container with ID starting with c1 not found: ID does not exist',
    'no such container "c1"',
  ],
  [
    'could not find pod "p1": PodSandbox with ID starting with p1 not found: ID does not exist',
    'no such pod "p1"',
  ],
  ['Error response from daemon: No such container: c1', 'no such container "c1"'],
])('%j is shown as %j', (details, plain) => {
  const failure = {method: 'ExecSync', endpoint: 'unix:///run/a.sock', grpcCode: 'UNKNOWN', details};
  expect(formatPlainMessage(failure)).toBe(plain);
});

test('the command that puts a socket back is quoted for the shell', async () => {
  const path = join(await temporaryDirectory(), "a'b; reboot.sock");
  await writeFile(`${path}.kcri-runtime`, '');
  const failure = {
    ...{method: 'Version', endpoint: `unix://${path}`, grpcCode: 'UNAVAILABLE'},
    details: 'connect ENOENT: no such file or directory',
  };
  const quoted = path.replace("'", `'\\''`);
  expect(hintFor(failure)).toContain(`put it back with: mv '${quoted}.kcri-runtime' '${quoted}'`);
});
