import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {LocalFileReader} from '../../../../src/features/doctor/readers/local-file-reader.js';
import {readKubelet} from '../../../../src/features/doctor/readers/kubelet.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

type Services = Parameters<typeof readKubelet>[0];

test('the configuration on the command line of a kubelet is examined', async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, 'config.yaml');
  const kind = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  await writeFile(path, `${kind}healthzPort: 0\ncgroupDriver: systemd\nnoSuchField: 1\n`);
  const {signal} = new AbortController();
  const argv = ['/usr/bin/kubelet', '--root-dir', directory, `--config=${path}`];
  const services = {context: {clock: systemClock}, settings: {rootDir: directory}} as unknown as Services;
  const found = await readKubelet(services, await LocalFileReader.open(signal), {
    processes: {value: [{pid: 1, argv}]},
    signal,
  });
  expect(found.config).toMatchObject({
    value: {
      path,
      problems: [],
      ineffective: ['noSuchField: kubelet 1.36 has no such field'],
      cgroupDriver: 'systemd',
      failSwapOn: true,
    },
  });
  expect(found).toMatchObject({own: {value: null}, healthz: {error: 'healthzPort is 0'}});
  expect(found.certificates.map(({fact}) => fact)).toMatchObject(Array(3).fill({isMissing: true}));
});
