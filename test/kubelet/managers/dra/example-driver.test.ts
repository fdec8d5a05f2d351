import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {NO_METRICS} from '../../../../src/kubelet/contract/kubelet-metrics.js';
import {DriverConnection} from '../../../../src/kubelet/managers/dra/driver-connection.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {startExample} from '../../../e2e/harness/example-process.js';

const NAME = 'slots.example.com';

test('the example of a DRA driver uses no file of another name, whatever the UID of a claim', async () => {
  const directory = await temporaryDirectory();
  const [rootDir, cdiDir] = [join(directory, 'root'), join(directory, 'cdi')];
  for (const path of [join(rootDir, 'kcri/resource-claims'), join(cdiDir, `${NAME}-x`)])
    await mkdir(path, {recursive: true});
  // Where these UIDs would lead as parts of paths.
  const claim = {claim: {status: {allocation: {devices: {results: []}}}}};
  await writeFile(join(rootDir, 'kcri/other.json'), JSON.stringify(claim));
  await writeFile(join(cdiDir, 'other.json'), '{}');
  await using _driver = await startExample('dra-driver/driver.ts', [rootDir, cdiDir], `serving ${NAME}`);
  const endpoint = join(rootDir, 'plugins', NAME, 'dra.sock');
  const calls = new DriverConnection({
    ...{driver: NAME, endpoint, version: 'v1', clock: systemClock, metrics: NO_METRICS},
  });
  const ask = (uid: string): readonly {uid: string; name: string; namespace: string}[] => [
    {uid, name: 'gpu', namespace: 'default'},
  ];
  const answer = (uid: string): object[] => [{key: uid, value: {error: `Error: invalid UID "${uid}"`}}];
  expect(await calls.prepare(ask('../other'))).toMatchObject(answer('../other'));
  expect(await calls.unprepare(ask('x/../other'))).toMatchObject(answer('x/../other'));
  expect((await readdir(cdiDir)).toSorted()).toEqual(['other.json', `${NAME}-x`]);
});
