import {expect, test} from 'vitest';
import {runVolumeReclaim} from '../../../src/kubelet/daemon/run-volume-reclaim.js';
import type {ApiObjects} from '../../../src/kubelet/contract/api-objects.js';
import type {ProvisionedVolume} from '../../../src/kubelet/managers/volumes/provisioning/provisioned-volume-store.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {until} from '../../base/until.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const VOLUME = {claim: 'default/data', manager: 'kubelet', state: 'Bound', name: 'pvc-1'};

/**
 * Returns after which rounds the volume of a claim is deleted, where each round tells whether the manifests have the claim and
 * whether all sources are ready.
 */
async function deletedIn(
  rounds: readonly (readonly [hasClaim: boolean, isReady?: boolean])[],
  volume: Partial<ProvisionedVolume> = {},
): Promise<readonly number[]> {
  const clock = new FakeClock();
  const end = new AbortController();
  const deleted: number[] = [];
  let round = 0;
  const running = runVolumeReclaim(
    {
      objects: {claimSpec: () => (rounds[round]![0] ? {} : undefined)} as unknown as ApiObjects,
      allSourcesReady: () => rounds[round]![1] ?? true,
      clock,
      logger: SILENT_LOGGER,
      provisioner: {
        reclaim: async (isWanted) => {
          if (!isWanted({...VOLUME, ...volume} as ProvisionedVolume)) deleted.push(round);
          return {reclaimed: [], errors: []};
        },
      },
    },
    end.signal,
  );
  for (; round < rounds.length; round++) {
    await until(() => clock.sleeping === 1);
    await clock.advance(10_000);
    await until(() => clock.sleeping === 1);
  }
  end.abort();
  await running;
  return deleted;
}

test('a volume is deleted when its claim is missing twice in a row', async () => {
  expect(await deletedIn([[true], [false], [true], [false], [false]])).toEqual([4]);
});

test('a daemon that has never seen the claim keeps its volume', async () => {
  expect(await deletedIn([[false], [false], [false]])).toEqual([]);
});

test('sources that are not ready say nothing about claims', async () => {
  expect(await deletedIn([[true], [false, false], [false, false], [false]])).toEqual([]);
});

test('volumes of commands are left to commands', async () => {
  expect(await deletedIn([[true], [false], [false]], {manager: 'sync'})).toEqual([]);
});
