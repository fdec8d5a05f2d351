import {readdir, symlink, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {KubeImageService} from '../../../../src/kubelet/container/services.js';
import type {PullCredential} from '../../../../src/kubelet/images/credentials/keyring.js';
import {loginHash} from '../../../../src/kubelet/images/credentials/keyring.js';
import {PullManager, type WantedImage} from '../../../../src/kubelet/images/records/pull-manager.js';
import {FilePullRecords} from '../../../../src/kubelet/images/records/pull-records.js';
import type {VerificationPolicy} from '../../../../src/kubelet/images/records/verification-policy.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aClock} from '../a-clock.js';

const signal = new AbortController().signal;
const APP: WantedImage = {image: 'r.example/app:1', repository: 'r.example/app'};
const REF = 'sha256:1';

const aCredential = (secret: string | undefined, password = 's'): PullCredential => ({
  login: {username: 'alice', password, email: ''},
  secret: secret === undefined ? undefined : {uid: '', namespace: 'team', name: secret},
});

async function aManager(policy: VerificationPolicy = {kind: 'NeverVerifyPreloadedImages'}) {
  const rootDir = await temporaryDirectory();
  const records = new FilePullRecords(rootDir);
  const another = (): PullManager => new PullManager(new FilePullRecords(rootDir), policy, aClock());
  const manager = another();
  /** Whether a pod with these credentials must pull. */
  const mustPull = async (...credentials: readonly PullCredential[]): Promise<boolean> =>
    await manager.mustPull(APP, REF, () => Promise.resolve(credentials));
  const pull = async (credential: PullCredential | undefined): Promise<void> => {
    await manager.begin(APP.image);
    await manager.pulled(APP, REF, credential);
  };
  /** All processes that pull are killed: their locks are those of a process that there isn't. */
  const killPullers = async (): Promise<void> => {
    const pullers = join(rootDir, 'image_manager', 'pullers');
    for (const name of await readdir(pullers)) {
      await unlink(join(pullers, name));
      await symlink(`${process.pid}@1@${'0'.repeat(8)}`, join(pullers, name));
    }
  };
  const pullers = async (): Promise<readonly string[]> =>
    await readdir(join(rootDir, 'image_manager', 'pullers'));
  return {records, manager, another, mustPull, pull, killPullers, pullers};
}

/** A runtime that has one image with these names. */
const holding = (...names: readonly string[]): Pick<KubeImageService, 'listImages'> => ({
  listImages: () =>
    Promise.resolve({
      images: [
        {
          id: REF,
          repoTags: names.filter((name) => !name.includes('@')),
          repoDigests: names.filter((name) => name.includes('@')),
          size: 1n,
          username: '',
          pinned: false,
        },
      ],
    }) as unknown as ReturnType<KubeImageService['listImages']>,
});

describe('an image that was there before', () => {
  test('is for everybody, and nobody is asked for credentials', async () => {
    const {manager} = await aManager();
    const ask = (): Promise<never> => Promise.reject(new Error('asked'));
    expect(await manager.mustPull(APP, REF, ask)).toBe(false);
  });

  test('is for nobody when everything is to be verified', async () => {
    const {mustPull} = await aManager({kind: 'AlwaysVerify'});
    expect(await mustPull(aCredential('a'))).toBe(true);
  });
});

test.each([
  ['without credentials', undefined],
  ["with the node's own", aCredential(undefined)],
])('an image that was pulled %s is for everybody', async (_, credential) => {
  const {mustPull, pull} = await aManager();
  await pull(credential);
  expect(await mustPull()).toBe(false);
});

describe('an image that was pulled with a Secret', () => {
  test('is for who has it', async () => {
    const {mustPull, pull, manager} = await aManager();
    await pull(aCredential('a'));
    expect(await mustPull()).toBe(true);
    expect(await mustPull(aCredential('a', 'other'))).toBe(true);
    expect(await mustPull(aCredential(undefined))).toBe(true);
    expect(await mustPull(aCredential('b'))).toBe(false);
    expect(
      await manager.mustPull({image: 's.example/app', repository: 's.example/app'}, REF, () =>
        Promise.resolve([aCredential('a')]),
      ),
    ).toBe(true);
  });

  test('notes another Secret of the same content', async () => {
    const {records, mustPull, pull} = await aManager();
    await pull(aCredential('a'));
    await mustPull(aCredential('b'));
    const credentialHash = loginHash(aCredential('a').login);
    expect((await records.readPulled(REF))?.credentialMapping['r.example/app']).toEqual({
      kubernetesSecrets: [
        {uid: '', namespace: 'team', name: 'a', credentialHash},
        {uid: '', namespace: 'team', name: 'b', credentialHash},
      ],
    });
  });

  test('notes no more of them than a hundred', async () => {
    const {records, mustPull, pull} = await aManager();
    for (let count = 0; count < 100; count++) await pull(aCredential(`s${count}`));
    expect(await mustPull(aCredential('one more'))).toBe(false);
    expect(
      (await records.readPulled(REF))?.credentialMapping['r.example/app']?.kubernetesSecrets,
    ).toHaveLength(100);
  });

  test('is for everybody under NeverVerify', async () => {
    const {mustPull, pull} = await aManager({kind: 'NeverVerify'});
    await pull(aCredential('a'));
    expect(await mustPull()).toBe(false);
  });
});

test('an image whose pull is under way is not one that was there before', async () => {
  const {manager, another, mustPull} = await aManager();
  await manager.begin(APP.image);
  expect(await mustPull()).toBe(true);
  expect(await another().mustPull(APP, REF, () => Promise.resolve([]))).toBe(true);
});

test('an intent goes with the last of the pulls that failed', async () => {
  const {manager, records} = await aManager();
  await manager.begin(APP.image);
  await manager.begin(APP.image);
  await manager.failed(APP.image);
  expect(await records.hasIntent(APP.image)).toBe(true);
  await manager.failed(APP.image);
  expect(await records.hasIntent(APP.image)).toBe(false);
});

describe('what a killed kcri has left', () => {
  test.each([
    ['r.example/app:1', 'r.example/app:1'],
    ['r.example/app', 'r.example/app:latest'],
    ['busybox', 'docker.io/library/busybox:latest'],
    [`r.example/app:1@sha256:${'a'.repeat(64)}`, `r.example/app@sha256:${'a'.repeat(64)}`],
  ])('%s, which is there as %s, is for nobody until it is pulled again', async (image, name) => {
    const {manager, another, records, killPullers, pullers} = await aManager();
    await manager.begin(image);
    await killPullers();
    const next = another();
    await next.settleIntents(holding(name), signal);
    expect([await records.listIntents(), await pullers()]).toEqual([[], []]);
    expect((await records.readPulled(REF))?.credentialMapping).toEqual({});
    expect(await next.mustPull({image, repository: 'x'}, REF, () => Promise.resolve([]))).toBe(true);
  });

  test('an intent of an image that never came is removed', async () => {
    const {manager, another, records, killPullers} = await aManager();
    await manager.begin(APP.image);
    await killPullers();
    await another().settleIntents(holding('r.example/other:1'), signal);
    expect(await records.listIntents()).toEqual([]);
    expect(await records.readPulled(REF)).toBeUndefined();
  });

  test("one's own pulls are no leftovers", async () => {
    const {manager, records} = await aManager();
    await manager.begin(APP.image);
    await manager.settleIntents(holding(APP.image), signal);
    expect(await records.listIntents()).toEqual([APP.image]);
  });

  test('the runtime is not asked when nothing is left, and again when it could not answer', async () => {
    const {manager, another, killPullers} = await aManager();
    const broken = {listImages: () => Promise.reject(new Error('away'))};
    await another().settleIntents(broken, signal);
    await manager.begin(APP.image);
    await killPullers();
    const next = another();
    await expect(next.settleIntents(broken, signal)).rejects.toThrow('away');
    await next.settleIntents(holding(APP.image), signal);
    expect(await next.mustPull(APP, REF, () => Promise.resolve([]))).toBe(true);
  });

  test('is settled for all callers, though the first of them is aborted', async () => {
    const {manager, another, records, killPullers} = await aManager();
    await manager.begin(APP.image);
    await killPullers();
    const next = another();
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const asked: unknown[] = [];
    const slow: Pick<KubeImageService, 'listImages'> = {
      listImages: async (request, options) => {
        asked.push(options?.signal);
        await answered;
        return await holding(APP.image).listImages(request);
      },
    };
    const controller = new AbortController();
    const reason = new Error('stop');
    const first = next.settleIntents(slow, controller.signal);
    const second = next.settleIntents(slow, signal);
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    await expect(next.settleIntents(slow, controller.signal)).rejects.toBe(reason);
    answer();
    await second;
    expect(asked).toEqual([undefined]);
    expect(await records.listIntents()).toEqual([]);
  });
});

describe('what another kcri is pulling', () => {
  test('is no leftover, until that one is killed', async () => {
    const {manager, another, records, killPullers, mustPull} = await aManager();
    await manager.begin(APP.image);
    await another().settleIntents(holding(APP.image), signal);
    expect(await records.listIntents()).toEqual([APP.image]);
    expect(await records.readPulled(REF)).toBeUndefined();
    await killPullers();
    await another().settleIntents(holding(APP.image), signal);
    expect(await records.listIntents()).toEqual([]);
    expect(await mustPull(aCredential('a'))).toBe(true);
  });

  test.each(['failed', 'pulled'] as const)(
    'keeps its intent when one’s own pull of the same image has %s',
    async (end) => {
      const {manager, another, records} = await aManager();
      await manager.begin(APP.image);
      const other = another();
      await other.begin(APP.image);
      if (end === 'failed') await other.failed(APP.image);
      else await other.pulled(APP, 'sha256:2', undefined);
      expect(await records.hasIntent(APP.image)).toBe(true);
      expect(await another().mustPull(APP, REF, () => Promise.resolve([]))).toBe(true);
      await manager.failed(APP.image);
      expect(await records.hasIntent(APP.image)).toBe(false);
    },
  );
});
