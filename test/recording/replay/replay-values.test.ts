import {expect, test} from 'vitest';
import {readCalls, type RecordedCall} from '../../../src/recording/replay/recorded-calls.js';
import {neededImages} from '../../../src/recording/replay/needed-images.js';
import {ReplayCgroups} from '../../../src/recording/replay/replay-cgroups.js';
import {callEvents} from '../../../src/recording/replay/replay-order.js';
import {ReplayPaths} from '../../../src/recording/replay/replay-paths.js';
import {replayRequest} from '../../../src/recording/replay/replay-request.js';
import {ValueMap} from '../../../src/recording/replay/value-map.js';
import type {JsonObject} from '../../../src/format/json.js';

const UID = 'b4a7a1f0-1c6e-4b1e-9d52-0e6f7f3f0001';
const OTHER = 'c4a7a1f0-1c6e-4b1e-9d52-0e6f7f3f0002';
const ID = 'a'.repeat(64);
const ACTUAL = 'b'.repeat(64);

/** Returns the calls of lines, of which each test gives what matters. */
async function callsOf(...lines: readonly JsonObject[]): Promise<readonly RecordedCall[]> {
  async function* read(): AsyncGenerator<JsonObject> {
    for (const line of lines)
      yield await Promise.resolve({
        service: 'runtime.v1.RuntimeService',
        request: {},
        code: 'OK',
        durationMs: 1,
        ...line,
      });
  }
  return (await readCalls(read())).calls;
}

test('a request gets the IDs, UIDs, addresses and paths of the replay', () => {
  const values = new ValueMap();
  values.set(ID, ACTUAL);
  values.set(UID, OTHER);
  values.set('10.88.0.5', '10.88.0.9');
  const paths = new ReplayPaths('/tmp/replay');
  const replay = {values, paths, uids: new Map([[UID, OTHER]]), cgroupParent: () => '/own/pod0'};
  const request = {
    podSandboxId: ID.slice(0, 13),
    sandboxConfig: {
      metadata: {uid: UID, name: 'web'},
      logDirectory: `/var/log/pods/default_web_${UID}`,
      linux: {cgroupParent: `kubepods-pod${UID.replaceAll('-', '_')}.slice`},
    },
    config: {
      logPath: '../../../etc/cron.d/main/0.log',
      envs: [
        {key: 'IP', value: Buffer.from('10.88.0.5').toString('base64')},
        {key: 'TOKEN', value: '***'},
      ],
      mounts: [
        {containerPath: '/data', hostPath: '/'},
        {containerPath: '/more', hostPath: '/'},
      ],
      devices: [{containerPath: '/dev/null', hostPath: '/dev/null', permissions: 'rwm'}],
      annotations: {of: `pod${UID.replaceAll('-', '_')} ${ID}`},
    },
  };
  expect(replayRequest(request, replay)).toEqual({
    podSandboxId: ACTUAL,
    sandboxConfig: {
      metadata: {uid: OTHER, name: 'web'},
      logDirectory: '/tmp/replay/logs-0',
      linux: {cgroupParent: '/own/pod0'},
    },
    config: {
      logPath: 'etc/cron.d/main/0.log',
      envs: [
        {key: 'IP', value: Buffer.from('10.88.0.9').toString('base64')},
        {key: 'TOKEN', value: Buffer.from('***').toString('base64')},
      ],
      mounts: [
        {containerPath: '/data', hostPath: '/tmp/replay/mount-1'},
        {containerPath: '/more', hostPath: '/tmp/replay/mount-1'},
      ],
      devices: [{containerPath: '/dev/null', hostPath: '/dev/null', permissions: 'rwm'}],
      annotations: {of: `pod${OTHER.replaceAll('-', '_')} ${ACTUAL}`},
    },
  });
  expect(paths.toRecorded('/tmp/replay/logs-0/main/0.log')).toBe(
    `/var/log/pods/default_web_${UID}/main/0.log`,
  );
  expect(values.toRecorded(`x ${ACTUAL} 10.88.0.9`)).toBe(`x ${ID} 10.88.0.5`);
});

test('cgroups have the form of the driver', () => {
  const [systemd, cgroupfs] = [new ReplayCgroups('systemd', 'ab12'), new ReplayCgroups('cgroupfs', 'ab12')];
  expect(systemd.parent('/kubepods/podx')).toBe('kcrireplayab12-pod0.slice');
  expect(cgroupfs.parent('kubepods-podx.slice')).toBe('/kcri-replay-ab12/pod0');
  expect(cgroupfs.parent('kubepods-pody.slice')).toBe('/kcri-replay-ab12/pod1');
});

test('calls that overlapped do again, and others wait, with microseconds', async () => {
  const calls = await callsOf(
    {method: 'Version', call: 1, time: '2026-11-28T00:00:00.000100Z', durationMs: 0.5},
    {method: 'Status', call: 2, time: '2026-11-28T00:00:00.000300Z', durationMs: 1},
    {method: 'ListContainers', call: 3, time: '2026-11-28T00:00:00.000700Z', durationMs: 0.1},
  );
  expect(callEvents(calls).map(({kind, call}) => `${kind} ${call.number}`)).toEqual([
    'start 1',
    'start 2',
    'end 1',
    'start 3',
    'end 3',
    'end 2',
  ]);
});

test('images are looked up by their names, and pulled unless the recording pulls them without credentials', async () => {
  const service = 'runtime.v1.ImageService';
  const time = '2026-11-28T00:00:00Z';
  const create = (image: JsonObject) => ({method: 'CreateContainer', time, request: {config: {image}}});
  const calls = await callsOf(
    {
      service,
      method: 'ImageStatus',
      time,
      request: {image: {image: 'a:1'}},
      response: {image: {id: 'sha256:1'}},
    },
    {service, method: 'PullImage', time, request: {image: {image: 'b:1'}}, response: {imageRef: 'sha256:2'}},
    {
      service,
      method: 'PullImage',
      time,
      request: {image: {image: 'c:1'}, auth: {password: '***'}},
      response: {imageRef: 'sha256:3'},
    },
    create({image: 'sha256:1'}),
    create({image: 'sha256:4', userSpecifiedImage: 'd:1'}),
  );
  expect(neededImages(calls)).toEqual([
    {reference: 'sha256:2', name: 'b:1', isPulled: true},
    {reference: 'sha256:3', name: 'c:1', isPulled: false},
    {reference: 'sha256:1', name: 'a:1', isPulled: false},
    {reference: 'sha256:4', name: 'd:1', isPulled: false},
  ]);
});
