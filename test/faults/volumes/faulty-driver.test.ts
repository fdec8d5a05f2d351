import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connectCsiController} from '../../../src/plugin-api/connect-plugin.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FaultyDriver} from './faulty-driver.js';
import {MountShell} from './mount-shell.js';
import {VolumeBackend} from './volume-backend.js';

test('a driver that ends does not do what it has not begun', async () => {
  const directory = await temporaryDirectory();
  using shell = new MountShell();
  const violations = (text: string): void => expect.fail(text);
  const backend = new VolumeBackend({directory, device: '/dev/null', shell, violations});
  const id = await backend.make('a');
  const path = join(directory, 'csi.sock');
  const driver: FaultyDriver = new FaultyDriver({
    ...{sockets: {path, registration: join(directory, 'reg.sock')}, backend},
    point: {killIn: {method: 'DeleteVolume', skip: 0, stage: 'before'}},
    onFault: () => undefined,
    onCall: () => undefined,
    kill: async () => {
      driver.restart();
    },
  });
  await driver.start();
  const client = connectCsiController(path);
  await expect(client.deleteVolume({volumeId: id})).rejects.toThrow();
  client.close();
  await driver[Symbol.asyncDispose]();
  expect(driver.methods).toEqual(['DeleteVolume']);
  expect(backend.made).toEqual([id]);
});
