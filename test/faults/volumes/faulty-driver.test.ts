import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connectCsiController} from '../../../src/plugin-api/connect-plugin.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {FaultyDriver} from './faulty-driver.js';
import {MountShell} from './mount-shell.js';
import {VolumeBackend} from './volume-backend.js';
import type {VolumePoint} from './volume-point.js';

/** A driver with a fault, and a client of it. */
async function aDriver(point: VolumePoint, kill: (driver: FaultyDriver) => void = () => undefined) {
  const directory = await temporaryDirectory();
  const shell = new MountShell();
  const violations = (text: string): void => expect.fail(text);
  const backend = new VolumeBackend({directory, device: '/dev/null', shell, violations});
  const path = join(directory, 'csi.sock');
  const driver: FaultyDriver = new FaultyDriver({
    ...{sockets: {path, registration: join(directory, 'reg.sock')}, backend, point},
    onFault: () => undefined,
    onCall: () => undefined,
    kill: async () => {
      kill(driver);
      return Promise.resolve();
    },
  });
  await driver.start();
  const client = connectCsiController(path);
  return {
    ...{backend, driver, client},
    [Symbol.asyncDispose]: async () => {
      client.close();
      await driver[Symbol.asyncDispose]();
      shell[Symbol.dispose]();
    },
  };
}

test('a driver that ends does not do what it has not begun', async () => {
  const point: VolumePoint = {killIn: {method: 'DeleteVolume', skip: 0, stage: 'before'}};
  await using played = await aDriver(point, (ending) => {
    ending.restart();
  });
  const {backend, driver, client} = played;
  const id = await backend.make('a');
  await expect(client.deleteVolume({volumeId: id})).rejects.toThrow();
  await driver[Symbol.asyncDispose]();
  expect(driver.methods).toEqual(['DeleteVolume']);
  expect(backend.made).toEqual([id]);
});

test('a driver that still has to make a volume neither makes it again nor deletes it', async () => {
  const point: VolumePoint = {fault: {method: 'CreateVolume', skip: 0, name: 'slow'}};
  await using played = await aDriver(point);
  const {backend, driver, client} = played;
  const slow = client.createVolume({name: 'a'}).catch(() => 'ended');
  await until(() => driver.methods.length === 1);
  const inProgress = 'an operation with volume controller made-a is in progress';
  await expect(client.createVolume({name: 'a'})).rejects.toThrow(inProgress);
  await expect(client.deleteVolume({volumeId: 'made-a'})).rejects.toThrow(inProgress);
  await expect(client.createVolume({name: 'b'})).resolves.toMatchObject({volume: {volumeId: 'made-b'}});
  expect(backend.made).toEqual(['made-b']);
  await driver[Symbol.asyncDispose]();
  expect(await slow).toBe('ended');
});
