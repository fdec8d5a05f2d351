import {randomBytes} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../base/until.js';
import {startKubeletTestbed, type KubeletTestbed} from '../e2e/harness/kubelet-testbed.js';
import {aContainer, aManifest, type ManifestFields} from '../e2e/harness/manifests.js';
import type {PodTestbed} from '../e2e/harness/pod-testbed.js';
import {newestRuntime} from '../e2e/harness/runtimes-under-test.js';
import {
  iscsiInterfaces,
  iscsiRecords,
  iscsiSessions,
  startIscsiTarget,
  type IscsiTarget,
  type IscsiTargetOptions,
} from './iscsi-target.js';

const NODE = 'iscsi';
const PORTAL = '127.0.0.1:3260';

/** Returns a pod whose container has a volume at /data. */
function aPod(name: string, volume: object, container: ManifestFields = {}): string {
  return aManifest(name, {
    terminationGracePeriodSeconds: 0,
    volumes: [{name: 'data', ...volume}],
    containers: [aContainer('main', {volumeMounts: [{name: 'data', mountPath: '/data'}], ...container})],
  });
}

const aDocument = (kind: string, name: string, content: object): string =>
  JSON.stringify({apiVersion: 'v1', kind, metadata: {name}, ...content});
const documents = (...all: readonly string[]): string => all.join('\n---\n');

/** Returns a Secret with which an initiator introduces itself for the discovery and for sessions. */
function aChapSecret(discovery: string, session: string): string {
  const stringData = Object.fromEntries(
    Object.entries({'discovery.sendtargets.auth': discovery, 'node.session.auth': session}).flatMap(
      ([prefix, password]) => [
        [`${prefix}.username`, 'node'],
        [`${prefix}.password`, password],
      ],
    ),
  );
  return aDocument('Secret', 'chap', {type: 'kubernetes.io/iscsi-chap', stringData});
}

describe.each(newestRuntime)('iSCSI volumes with iscsiadm and the kernel: $name', (which) => {
  let kubelet: KubeletTestbed;
  let testbed: PodTestbed;
  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    testbed = kubelet.podTestbed;
  });
  afterAll(() => kubelet[Symbol.asyncDispose]());

  /** Starts a target for one test, after which the node must know nothing of it. */
  async function startTarget(options: IscsiTargetOptions = {}): Promise<IscsiTarget> {
    const target = await startIscsiTarget(`t${randomBytes(4).toString('hex')}`, options);
    onTestFinished(async () => {
      await target[Symbol.asyncDispose]();
    });
    return target;
  }
  const iscsi = ({iqn}: IscsiTarget, fields: object = {}): object => ({
    iscsi: {targetPortal: PORTAL, iqn, lun: 1, ...fields},
  });
  const sync = async (manifest: string): Promise<void> => {
    const {exitCode, stderr} = await testbed.sync(manifest);
    expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
  };
  const run = async (name: string, script: string): Promise<string> => {
    const {containers} = await testbed.pod(name);
    const running = containers.find(({state}) => state === 'CONTAINER_RUNNING');
    return await testbed.exec(running!.id, 'sh', '-c', script);
  };
  const expectNothingLeft = async ({iqn}: IscsiTarget): Promise<void> => {
    expect(await iscsiSessions(iqn)).toEqual([]);
    expect(iscsiRecords(iqn)).toEqual([]);
    expect(iscsiInterfaces()).toEqual([]);
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(iqn);
  };

  test('a disk is formatted once and shared by pods, keeps their data, and is left with the last of them', async () => {
    const target = await startTarget();
    await sync(aPod('first', iscsi(target)));
    expect(await iscsiSessions(target.iqn)).toHaveLength(1);
    expect(await run('first', 'grep " /data " /proc/mounts')).toMatch(/^\/dev\/sd[a-z]+ \/data ext4 /);
    await run('first', 'echo kept > /data/file');
    await sync(aPod('second', iscsi(target)));
    expect(await run('second', 'cat /data/file')).toBe('kept');
    await testbed.delete('first');
    expect(await iscsiSessions(target.iqn)).toHaveLength(1);
    await testbed.delete('second');
    await expectNothingLeft(target);

    await sync(aPod('third', iscsi(target)));
    expect(await run('third', 'cat /data/file')).toBe('kept');
    await testbed.delete('third');
    await expectNothingLeft(target);
  });

  test('two LUNs of a target are two disks of one session, and a claim gets one of them as a device', async () => {
    const target = await startTarget({luns: [1, 2]});
    const [capacity, accessModes] = [{storage: '1Mi'}, ['ReadWriteOnce']];
    const block = {volumeMode: 'Block', accessModes};
    const manifest = documents(
      aPod('mounted', iscsi(target)),
      aPod(
        'mapped',
        {persistentVolumeClaim: {claimName: 'raw'}},
        {
          volumeMounts: [],
          volumeDevices: [{name: 'data', devicePath: '/dev/raw'}],
        },
      ),
      aDocument('PersistentVolumeClaim', 'raw', {
        spec: {...block, resources: {requests: capacity}, volumeName: 'raw'},
      }),
      aDocument('PersistentVolume', 'raw', {spec: {...block, capacity, ...iscsi(target, {lun: 2})}}),
    );
    await sync(manifest);
    expect(await iscsiSessions(target.iqn)).toHaveLength(1);
    await run('mapped', 'echo raw | dd of=/dev/raw conv=fsync 2> /dev/null');
    await testbed.delete('mapped');
    expect(await run('mounted', 'touch /data/file && echo writable')).toBe('writable');
    await testbed.delete('mounted');
    await expectNothingLeft(target);

    await sync(manifest);
    expect(await run('mapped', 'head -c 3 /dev/raw')).toBe('raw');
    await testbed.delete('mapped', 'mounted');
    await expectNothingLeft(target);
  });

  test('a disk is reached through each of its portals, with the initiator name of the volume', async () => {
    const portals = [PORTAL, '127.0.0.1:3261', '[::1]:3260'];
    const target = await startTarget({portals});
    const initiatorName = 'iqn.2026-11.com.example:pod';
    await sync(aPod('paths', iscsi(target, {portals: portals.slice(1), initiatorName})));
    expect(await iscsiSessions(target.iqn)).toEqual(portals.map(() => initiatorName));
    await testbed.delete('paths');
    await expectNothingLeft(target);
  });

  test('the node introduces itself with the passwords of the Secret, which no output shows', async () => {
    const [discovery, session] = ['correct-horse', 'battery-staple'];
    const aLogin = (password: string) => ({username: 'node', password});
    const target = await startTarget({chap: {discovery: aLogin(discovery), session: aLogin(session)}});
    const chap = {chapAuthDiscovery: true, chapAuthSession: true, secretRef: {name: 'chap'}};
    const volume = iscsi(target, chap);
    const wrong = 'wrong-password';
    for (const [secret, failure] of [
      [aChapSecret(wrong, session), /failed to sendtargets to portal 127\.0\.0\.1:3260: exit status 24/],
      [aChapSecret(discovery, wrong), /failed to attach disk: exit status 24/],
    ] as const) {
      const failing = testbed.startSync(documents(aPod('chap', volume), secret));
      await failing.waitForOutput(failure);
      await failing.waitForOutput(/check the Secret of the volume/);
      failing.kill('SIGINT');
      const {stdout, stderr} = await failing.exited;
      expect(stdout + stderr).not.toContain(wrong);
      await testbed.delete('chap');
      await expectNothingLeft(target);
    }

    await sync(documents(aPod('chap', volume), aChapSecret(discovery, session)));
    expect(await run('chap', 'touch /data/file && echo writable')).toBe('writable');
    await testbed.delete('chap');
    await expectNothingLeft(target);
  });

  test('a portal that is down, and a LUN that does not exist, are errors that say so', async () => {
    const target = await startTarget();
    const fails = async (volume: object, ...patterns: readonly RegExp[]): Promise<void> => {
      const failing = testbed.startSync(aPod('failing', volume));
      for (const pattern of patterns) await failing.waitForOutput(pattern);
      failing.kill('SIGINT');
      await failing.exited;
      await testbed.delete('failing');
      await expectNothingLeft(target);
    };
    await fails(
      iscsi(target, {targetPortal: '127.0.0.1:3999'}),
      /failed to sendtargets to portal 127\.0\.0\.1:3999: exit status \d+/,
      /check that the portal can be reached from the node/,
    );
    await fails(
      iscsi(target, {lun: 9}),
      /Timed out waiting for device at path \S+-lun-9 after 30s/,
      /check that the target has the LUN 9/,
    );
  });

  test('a sync that is killed after the login leaves a session that the deletion of its pod ends', async () => {
    const target = await startTarget();
    const syncing = testbed.startSync(aPod('killed', iscsi(target)));
    await until(async () => (await iscsiSessions(target.iqn)).length === 1);
    syncing.kill('SIGKILL');
    await syncing.exited;
    await testbed.delete('killed');
    await expectNothingLeft(target);
  });

  test('a kubelet that is killed finds the disk mounted, and leaves its target when the pod is gone', async () => {
    const target = await startTarget();
    const first = await kubelet.start();
    await kubelet.put('held', aPod('held', iscsi(target)));
    const running = async (): Promise<string | undefined> =>
      (await testbed.find(`held-${NODE}`))?.containers.find(({state}) => state === 'CONTAINER_RUNNING')?.id;
    await until(async () => (await running()) !== undefined);
    const id = await running();
    await run(`held-${NODE}`, 'echo kept > /data/file');
    first.kcri.kill('SIGKILL');
    await first.kcri.exited;

    const second = await kubelet.start();
    expect(await run(`held-${NODE}`, 'cat /data/file')).toBe('kept');
    expect(await running()).toBe(id);
    expect(await iscsiSessions(target.iqn)).toHaveLength(1);
    second.kcri.kill('SIGKILL');
    await second.kcri.exited;
    await kubelet.withdraw('held');
    const third = await kubelet.start();
    await until(async () => (await iscsiSessions(target.iqn)).length === 0);
    await until(() => iscsiRecords(target.iqn).length === 0);
    third.kcri.kill('SIGTERM');
    await third.kcri.exited;
    await expectNothingLeft(target);
  });
});
