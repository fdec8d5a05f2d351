import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {measureVolume, toUsage} from '../../../../../src/kubelet/managers/volumes/csi/measure-volume.js';
import {CsiDriverClient} from '../../../../../src/kubelet/managers/volumes/csi/csi-driver-client.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {CSI_DRIVER, FakeCsiDriver} from '../../../../fakes/plugins/fake-csi-driver.js';

async function measure(capabilities: readonly string[]): Promise<unknown> {
  const directory = await temporaryDirectory();
  const volume = join(directory, 'volume');
  await mkdir(volume);
  await writeFile(join(volume, 'vol_data.json'), JSON.stringify({driverName: CSI_DRIVER, volumeHandle: 'h'}));
  const path = join(directory, 'csi.sock');
  await using driver = await FakeCsiDriver.start({path, capabilities});
  const usage = await measureVolume(
    {path: join(volume, 'mount'), dataDir: volume},
    {client: () => new CsiDriverClient(path)},
    new AbortController().signal,
  );
  return [usage, driver.callsTo('NodeGetVolumeStats')];
}

test('a driver is asked for the usage of a volume, if it measures volumes', async () => {
  const request = {volume_id: 'h', volume_path: expect.stringMatching(/\/volume\/mount$/) as string};
  expect(await measure(['GET_VOLUME_STATS'])).toMatchObject([
    {usedBytes: 40n, availableBytes: 60n, capacityBytes: 100n, inodes: 0n},
    [request],
  ]);
  expect(await measure([])).toEqual([undefined, []]);
});

test('of a driver, negative numbers count as 0, and units that are not known do not count', () => {
  const usage = [
    {unit: 'BYTES', used: -1n, available: 5n, total: 4n},
    {unit: '7', used: 1n, available: 1n, total: 1n},
    {unit: 'INODES', used: 1n, available: 2n, total: 3n},
  ] as const;
  expect(toUsage({usage: usage as never})).toEqual({
    ...{usedBytes: 0n, availableBytes: 5n, capacityBytes: 4n},
    ...{inodesUsed: 1n, inodesFree: 2n, inodes: 3n},
  });
  expect(toUsage({usage: []})).toBeUndefined();
});
