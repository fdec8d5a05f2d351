import {createHash} from 'node:crypto';
import {mkdir, readFile, readdir, rm, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {anImage, BUSYBOX} from '../../../fakes/runtime-builders.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/* Records of image pulls that a kubelet has left: <root-dir>/image_manager/{pulling,pulled}. */

const SETTLE_MS = 10_000;
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update|PullImage)/;

const fileName = (name: string): string => `sha256-${createHash('sha256').update(name).digest('hex')}`;

/** Starts a pod and stops its kubelet, and then removes what a kubelet does not store. */
async function leaveNode(): Promise<DaemonTestbed> {
  const web = aManifest({
    name: 'web',
    containers: [aContainerSpec('main', {imagePullPolicy: 'IfNotPresent'})],
  });
  const testbed = await DaemonTestbed.start({
    manifests: {'web.json': web},
    runtime: {registry: [anImage()]},
  });
  await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
  await testbed.stop();
  await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  return testbed;
}

async function imageRefOf({connection}: DaemonTestbed): Promise<string> {
  return (await connection.images.imageStatus({image: {image: BUSYBOX}})).image!.id;
}

const pathOf = ({rootDir}: DaemonTestbed, folder: 'pulled' | 'pulling', name: string): string =>
  join(rootDir, 'image_manager', folder, name);

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), {recursive: true, mode: 0o700});
  await writeFile(path, text, {mode: 0o600});
}

/** Returns the changing calls from now on until `act` is done. */
async function changesDuring(testbed: DaemonTestbed, act: () => Promise<void>): Promise<readonly string[]> {
  const before = testbed.fake.calls.length;
  await act();
  return testbed.fake.calls.slice(before).flatMap(({method}) => (CHANGES.test(method) ? [method] : []));
}

async function takeOver(testbed: DaemonTestbed): Promise<void> {
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  await testbed.clock.sleep(SETTLE_MS);
}

async function restart(testbed: DaemonTestbed): Promise<void> {
  testbed.kill('main');
  await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/main/1'));
}

/** Returns a record as kubelet 1.36.2 writes it. */
const recordOf = (imageRef: string, access: object): string =>
  `${JSON.stringify({
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    lastUpdatedTime: '2026-04-30T12:00:00Z',
    imageRef,
    credentialMapping: {'localhost:5000/busybox': access},
  })}\n`;

test('an image that a kubelet has pulled for all pods is not pulled again', async () => {
  await using testbed = await leaveNode();
  const imageRef = await imageRefOf(testbed);
  const path = pathOf(testbed, 'pulled', fileName(imageRef));
  const text = recordOf(imageRef, {nodePodsAccessible: true});
  await put(path, text);
  expect(await changesDuring(testbed, async () => takeOver(testbed))).toEqual([]);
  expect(await changesDuring(testbed, async () => restart(testbed))).not.toContain('PullImage');
  expect(await readFile(path, 'utf8')).toBe(text);
});

test('an image that a kubelet has pulled with a Secret is pulled again by a pod without it', async () => {
  await using testbed = await leaveNode();
  const imageRef = await imageRefOf(testbed);
  const secret = {uid: '1', namespace: 'default', name: 'registry', credentialHash: 'x'};
  await put(pathOf(testbed, 'pulled', fileName(imageRef)), recordOf(imageRef, {kubernetesSecrets: [secret]}));
  expect(await changesDuring(testbed, async () => takeOver(testbed))).toEqual([]);
  expect(await changesDuring(testbed, async () => restart(testbed))).toContain('PullImage');
});

test('a pull that a kubelet has not finished restricts its image, and its intent is removed', async () => {
  await using testbed = await leaveNode();
  const intent = {kind: 'ImagePullIntent', apiVersion: 'kubelet.config.k8s.io/v1beta1', image: BUSYBOX};
  await put(pathOf(testbed, 'pulling', fileName(BUSYBOX)), `${JSON.stringify(intent)}\n`);
  expect(await changesDuring(testbed, async () => takeOver(testbed))).toEqual([]);
  expect(await changesDuring(testbed, async () => restart(testbed))).toContain('PullImage');
  expect(await readdir(join(testbed.rootDir, 'image_manager/pulling'))).toEqual([]);
});

test.each<readonly [string, (path: string) => Promise<void>]>([
  ['an empty file', async (path) => put(path, '')],
  ['a torn file', async (path) => put(path, '{"kind":"ImagePulledRecord","apiVer')],
  [
    'a record of another version',
    async (path) => put(path, '{"kind":"ImagePulledRecord","apiVersion":"v9"}'),
  ],
  ['a foreign file', async (path) => put(path, '\u0000ELF')],
])(
  '%s instead of a pulled record restarts nothing, and the next start pulls the image',
  async (_name, write) => {
    await using testbed = await leaveNode();
    const path = pathOf(testbed, 'pulled', fileName(await imageRefOf(testbed)));
    await write(path);
    await put(pathOf(testbed, 'pulling', 'README'), 'foreign');
    await put(pathOf(testbed, 'pulling', fileName('other')), 'torn');
    expect(await changesDuring(testbed, async () => takeOver(testbed))).toEqual([]);
    expect(await changesDuring(testbed, async () => restart(testbed))).toContain('PullImage');
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({kind: 'ImagePulledRecord'});
  },
);

test('a directory instead of a pulled record restarts nothing', async () => {
  await using testbed = await leaveNode();
  await mkdir(pathOf(testbed, 'pulled', fileName(await imageRefOf(testbed))), {recursive: true});
  expect(await changesDuring(testbed, async () => takeOver(testbed))).toEqual([]);
});
