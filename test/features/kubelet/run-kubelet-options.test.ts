import {expect, test} from 'vitest';
import {CommandServices} from '../../../src/cli/command/command-services.js';
import {createProcessContext} from '../../../src/cli/process/context.js';
import {KCRI_DIALECT} from '../../../src/cli/dialect/dialect.js';
import {readKubeletNodeFlags} from '../../../src/features/kubelet/kubelet-node-flags.js';
import {createRunKubeletOptions} from '../../../src/features/kubelet/run-kubelet-options.js';
import {programVersion} from '../../../src/cli/process/program-version.js';
import {readKubeletConfig} from '../../../src/kubelet/index.js';

test('/statusz and /flagz get the version of kcri and the given flags', () => {
  const context = createProcessContext();
  const services = new CommandServices(
    {context, dialect: KCRI_DIALECT, globals: {'root-dir': '/root-dir'}},
    {words: ['kubelet'], usage: () => '', configFileMayBeMissing: false},
  );
  const config = readKubeletConfig([], new Map());
  const options = createRunKubeletOptions(
    services,
    {'max-pods': ['5']},
    {
      config,
      readConfig: async () => Promise.resolve(config),
      ignoredFlags: [],
      certDir: '/pki',
      kubeconfig: undefined,
      bootstrapKubeconfig: undefined,
      ...readKubeletNodeFlags({}),
    },
  );
  expect(options).toMatchObject({
    program: {version: programVersion(), flags: {'max-pods': '5'}},
    certDir: '/pki',
    admission: true,
  });
});
