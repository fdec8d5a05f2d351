import {readdir, symlink, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {acquireLock} from '../../../../../src/base/fs/lock.js';
import type {KubeImageService} from '../../../../../src/kubelet/contract/kube-services.js';
import type {PullCredential} from '../../../../../src/kubelet/managers/images/credentials/keyring.js';
import {loginHash} from '../../../../../src/kubelet/managers/images/credentials/keyring.js';
import {
  ImagePullManager,
  type RequestedImage,
} from '../../../../../src/kubelet/managers/images/pull-manager/image-pull-manager.js';
import {FilePullRecordsAccessor} from '../../../../../src/kubelet/managers/images/pull-manager/pull-records-accessor.js';
import type {VerificationPolicy} from '../../../../../src/kubelet/managers/images/pull-manager/verification-policy.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {FakeClock, TEST_TIME_MS} from '../../../../fakes/fake-clock.js';

const signal = new AbortController().signal;
const APP: RequestedImage = {image: 'r.example/app:1', repository: 'r.example/app'};
const REF = 'sha256:1';

const aCredential = (secret: string | undefined, password = 's'): PullCredential => ({
  login: {username: 'alice', password, email: ''},
  secret: secret === undefined ? undefined : {uid: '', namespace: 'team', name: secret},
});

async function aManager(policy: VerificationPolicy = {kind: 'NeverVerifyPreloadedImages'}) {
  const rootDir = await temporaryDirectory();
  const records = new FilePullRecordsAccessor(rootDir);
  const another = (): ImagePullManager =>
    new ImagePullManager(
      new FilePullRecordsAccessor(rootDir),
      policy,
      new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'}),
    );
  const manager = another();
  /** Reports whether a pod with these credentials must pull. */
  const mustPull = async (...credentials: readonly PullCredential[]): Promise<boolean> =>
    await manager.mustAttemptImagePull(APP, REF, () => Promise.resolve(credentials));
  const pull = async (credential: PullCredential | undefined): Promise<void> => {
    await manager.recordPullIntent(APP.image);
    await manager.recordPulled(APP, REF, {credential});
  };
  /** Simulates killing all pulling processes: replaces their locks by those of a process that does not exist. */
  const killPullers = async (): Promise<void> => {
    const pullers = join(rootDir, 'kcri/image_manager', 'pullers');
    for (const name of await readdir(pullers)) {
      await unlink(join(pullers, name));
      await symlink(`${process.pid}@1@${'0'.repeat(8)}`, join(pullers, name));
    }
  };
  const pullers = async (): Promise<readonly string[]> =>
    await readdir(join(rootDir, 'kcri/image_manager', 'pullers'));
  return {rootDir, records, manager, another, mustPull, pull, killPullers, pullers};
}

/** Creates an image service with one image of these names. */
const imageServiceWith = (...names: readonly string[]): Pick<KubeImageService, 'listImages'> => ({
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

describe('a preloaded image', () => {
  test('may be used by all pods, and credentials are not looked up', async () => {
    const {manager} = await aManager();
    const credentials = (): Promise<never> => Promise.reject(new Error('looked up'));
    expect(await manager.mustAttemptImagePull(APP, REF, credentials)).toBe(false);
  });

  test('must be pulled under AlwaysVerify', async () => {
    const {mustPull} = await aManager({kind: 'AlwaysVerify'});
    expect(await mustPull(aCredential('a'))).toBe(true);
  });
});

test.each([
  ['without credentials', undefined],
  ["with the node's own", aCredential(undefined)],
])('an image that was pulled %s may be used by all pods', async (_, credential) => {
  const {mustPull, pull} = await aManager();
  await pull(credential);
  expect(await mustPull()).toBe(false);
});

describe('an image that was pulled with a Secret', () => {
  test('may be used by pods with the same credentials for its repository', async () => {
    const {mustPull, pull, manager} = await aManager();
    await pull(aCredential('a'));
    expect(await mustPull()).toBe(true);
    expect(await mustPull(aCredential('a', 'other'))).toBe(true);
    expect(await mustPull(aCredential(undefined))).toBe(true);
    expect(await mustPull(aCredential('b'))).toBe(false);
    expect(
      await manager.mustAttemptImagePull({image: 's.example/app', repository: 's.example/app'}, REF, () =>
        Promise.resolve([aCredential('a')]),
      ),
    ).toBe(true);
  });

  test('records another Secret with the same content', async () => {
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

  test('records at most a hundred Secrets', async () => {
    const {records, mustPull, pull} = await aManager();
    for (let count = 0; count < 100; count++) await pull(aCredential(`s${count}`));
    expect(await mustPull(aCredential('one more'))).toBe(false);
    expect(
      (await records.readPulled(REF))?.credentialMapping['r.example/app']?.kubernetesSecrets,
    ).toHaveLength(100);
  });

  test('may be used by all pods under NeverVerify', async () => {
    const {mustPull, pull} = await aManager({kind: 'NeverVerify'});
    await pull(aCredential('a'));
    expect(await mustPull()).toBe(false);
  });
});

test('an image that is being pulled does not count as preloaded', async () => {
  const {manager, another, mustPull} = await aManager();
  await manager.recordPullIntent(APP.image);
  expect(await mustPull()).toBe(true);
  expect(await another().mustAttemptImagePull(APP, REF, () => Promise.resolve([]))).toBe(true);
});

test('an intent is removed with the last failed pull', async () => {
  const {manager, records} = await aManager();
  await manager.recordPullIntent(APP.image);
  await manager.recordPullIntent(APP.image);
  await manager.recordPullFailed(APP.image);
  expect(await records.hasIntent(APP.image)).toBe(true);
  await manager.recordPullFailed(APP.image);
  expect(await records.hasIntent(APP.image)).toBe(false);
});

describe('an intent of a killed process', () => {
  test.each([
    ['r.example/app:1', 'r.example/app:1'],
    ['r.example/app', 'r.example/app:latest'],
    ['busybox', 'docker.io/library/busybox:latest'],
    [`r.example/app:1@sha256:${'a'.repeat(64)}`, `r.example/app@sha256:${'a'.repeat(64)}`],
  ])('for %s, which is present as %s, requires another pull', async (image, name) => {
    const {manager, another, records, killPullers, pullers} = await aManager();
    await manager.recordPullIntent(image);
    await killPullers();
    const next = another();
    await next.recoverIntents(imageServiceWith(name), signal);
    expect([await records.listIntents(), await pullers()]).toEqual([[], []]);
    expect((await records.readPulled(REF))?.credentialMapping).toEqual({});
    expect(await next.mustAttemptImagePull({image, repository: 'x'}, REF, () => Promise.resolve([]))).toBe(
      true,
    );
  });

  test('is removed if the image does not exist', async () => {
    const {manager, another, records, killPullers} = await aManager();
    await manager.recordPullIntent(APP.image);
    await killPullers();
    await another().recoverIntents(imageServiceWith('r.example/other:1'), signal);
    expect(await records.listIntents()).toEqual([]);
    expect(await records.readPulled(REF)).toBeUndefined();
  });

  test('is not confused with a running pull of this process', async () => {
    const {manager, records} = await aManager();
    await manager.recordPullIntent(APP.image);
    await manager.recoverIntents(imageServiceWith(APP.image), signal);
    expect(await records.listIntents()).toEqual([APP.image]);
  });

  test('is looked up in the runtime only if there is one, and again after a failure', async () => {
    const {manager, another, killPullers} = await aManager();
    const broken = {listImages: () => Promise.reject(new Error('unavailable'))};
    await another().recoverIntents(broken, signal);
    await manager.recordPullIntent(APP.image);
    await killPullers();
    const next = another();
    await expect(next.recoverIntents(broken, signal)).rejects.toThrow('unavailable');
    await next.recoverIntents(imageServiceWith(APP.image), signal);
    expect(await next.mustAttemptImagePull(APP, REF, () => Promise.resolve([]))).toBe(true);
  });

  test('is recovered for all callers even if the first of them is aborted', async () => {
    const {manager, another, records, killPullers} = await aManager();
    await manager.recordPullIntent(APP.image);
    await killPullers();
    const next = another();
    let respond = (): void => undefined;
    const responded = new Promise<void>((resolve) => {
      respond = resolve;
    });
    const signals: unknown[] = [];
    const slow: Pick<KubeImageService, 'listImages'> = {
      listImages: async (request, options) => {
        signals.push(options?.signal);
        await responded;
        return await imageServiceWith(APP.image).listImages(request);
      },
    };
    const controller = new AbortController();
    const reason = new Error('stop');
    const first = next.recoverIntents(slow, controller.signal);
    const second = next.recoverIntents(slow, signal);
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    await expect(next.recoverIntents(slow, controller.signal)).rejects.toBe(reason);
    respond();
    await second;
    expect(signals).toEqual([undefined]);
    expect(await records.listIntents()).toEqual([]);
  });
});

describe('a pull of another kcri process', () => {
  test('keeps its intent until that process is killed', async () => {
    const {manager, another, records, killPullers, mustPull} = await aManager();
    await manager.recordPullIntent(APP.image);
    await another().recoverIntents(imageServiceWith(APP.image), signal);
    expect(await records.listIntents()).toEqual([APP.image]);
    expect(await records.readPulled(REF)).toBeUndefined();
    await killPullers();
    await another().recoverIntents(imageServiceWith(APP.image), signal);
    expect(await records.listIntents()).toEqual([]);
    expect(await mustPull(aCredential('a'))).toBe(true);
  });

  test.each(['failed', 'pulled'] as const)(
    'keeps its intent when this process’s pull of the same image has %s',
    async (end) => {
      const {manager, another, records} = await aManager();
      await manager.recordPullIntent(APP.image);
      const other = another();
      await other.recordPullIntent(APP.image);
      if (end === 'failed') await other.recordPullFailed(APP.image);
      else await other.recordPulled(APP, 'sha256:2', {credential: undefined});
      expect(await records.hasIntent(APP.image)).toBe(true);
      expect(await another().mustAttemptImagePull(APP, REF, () => Promise.resolve([]))).toBe(true);
      await manager.recordPullFailed(APP.image);
      expect(await records.hasIntent(APP.image)).toBe(false);
    },
  );
});

describe('an aborted pull', () => {
  test.each([
    {name: APP.image, isPresent: true},
    {name: 'r.example/other:1', isPresent: false},
  ])('leaves its intent to the next recovery of the same process ($isPresent)', async ({name, isPresent}) => {
    const {manager, records, pullers, mustPull} = await aManager();
    // The process has recovered before.
    await manager.recoverIntents(imageServiceWith(), signal);
    await manager.recordPullIntent(APP.image);
    await manager.recordPullAborted(APP.image);
    expect([await records.listAbandonedIntents(), await pullers()]).toEqual([[APP.image], []]);
    await manager.recoverIntents(imageServiceWith(name), signal);
    expect(await records.listIntents()).toEqual([]);
    expect(await mustPull()).toBe(isPresent);
  });

  test('and one whose record could not be written hold no lock', async () => {
    const {manager, records, pullers} = await aManager();
    const failing = new ImagePullManager(
      Object.assign(Object.create(records) as FilePullRecordsAccessor, {
        writeIntent: async (image: string) => records.writeIntent(image),
        updatePulled: () => Promise.reject(new Error('disk full')),
      }),
      {kind: 'NeverVerifyPreloadedImages'},
      new FakeClock(),
    );
    await failing.recordPullIntent(APP.image);
    await expect(failing.recordPulled(APP, REF, {credential: undefined})).rejects.toThrow('disk full');
    expect(await pullers()).toEqual([]);
    await manager.recoverIntents(imageServiceWith(APP.image), signal);
    expect(await records.listIntents()).toEqual([]);
  });
});

describe('pulls of other processes', () => {
  test('start while a recovery waits for the runtime, and keep their intents', async () => {
    const {manager, another, records, killPullers} = await aManager();
    await manager.recordPullIntent(APP.image);
    await killPullers();
    await another().recoverIntents(
      {
        listImages: async (request) => {
          // The image arrives after the runtime has listed its images, and then this process is killed too.
          await another().recordPullIntent(APP.image);
          await killPullers();
          return await imageServiceWith().listImages(request);
        },
      },
      signal,
    );
    expect(await records.listIntents()).toEqual([APP.image]);
  });

  test('can be aborted while another process holds the lock of the pullers', async () => {
    const {manager, rootDir} = await aManager();
    await manager.recordPullIntent(APP.image);
    await using _lock = await acquireLock(join(rootDir, 'kcri/image_manager', 'pullers.lock'));
    const reason = new Error('stop');
    const aborted = AbortSignal.abort(reason);
    await expect(manager.recordPullIntent('busybox', aborted)).rejects.toBe(reason);
    await expect(manager.recordPullFailed(APP.image, aborted)).rejects.toBe(reason);
  });
});
