import {expect, test} from 'vitest';
import {readAuthorizationPolicy} from '../../../src/kubelet/server/auth/authorization-policy.js';
import {readClientCa} from '../../../src/kubelet/server/certificate/client-ca.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

/** Command lines that read a file which never ends, with their environment. */
const LINES: readonly (readonly [line: string, env: Readonly<Record<string, string>>])[] = [
  ['-c /dev/zero ps', {}],
  ['ps', {CRI_CONFIG_FILE: '/dev/zero'}],
  ['-c /dev/zero config --set debug=true', {}],
  ['ps', {CRI_CONFIG_FILE: '/dev/zero', KCRI_COMPAT: 'crictl'}],
  ['-c /dev/zero config --list', {KCRI_COMPAT: 'crictl'}],
  ['ps -o custom-columns-file=/dev/zero', {}],
  ['ps -o go-template-file=/dev/zero', {}],
  ['pull --auth-file /dev/zero busybox', {}],
  ['pull busybox', {REGISTRY_AUTH_FILE: '/dev/zero'}],
];

test.each([
  ['the client CA', readClientCa],
  ['the authorization policy', async (file: string) => await readAuthorizationPolicy(file, 'node')],
])('%s of the kubelet is not read from a device that never ends', async (_, read) => {
  await expect(read('/dev/zero')).rejects.toThrow(/"\/dev\/zero" is larger than/);
});

test.each(LINES)('%s with %j ends with an error for a device that never ends', async (line, env) => {
  await using fake = await FakeRuntime.start();
  const {stderr, exitCode} = await runKcri(line.split(' '), {endpoint: fake.endpoint, env});
  expect({stderr, exitCode}).toEqual({
    stderr: expect.stringMatching(/\/dev\/zero\\*" is larger than/) as string,
    exitCode: 1,
  });
});
