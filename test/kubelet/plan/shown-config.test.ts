import {expect, test} from 'vitest';
import type {Container} from '../../../src/api/types/v1-pod.js';
import {hideSecretValues} from '../../../src/kubelet/plan/shown-config.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';

const CONFIG = {
  args: ['hunter2'],
  envs: [
    {key: 'PASS', value: 'hunter2'},
    {key: 'COLOR', value: 'blue'},
  ],
};

function hideSecrets(fields: Partial<Container>): unknown {
  return hideSecretValues(CONFIG, [aPod({containers: [aContainer(fields)]})], 'main');
}

const env = [
  {name: 'PASS', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}},
  {name: 'COLOR', value: 'blue'},
];

// Proves: Container.args, Container.env, EnvVar.valueFrom, EnvVarSource.secretKeyRef
test('a command that contains the value of a Secret is hidden', () => {
  expect(hideSecrets({env, args: ['$(PASS)']})).toEqual({
    command: ['<hidden>'],
    args: ['<hidden>'],
    envs: [{key: 'PASS', value: '<hidden>'}, CONFIG.envs[1]],
  });
});

test('other commands are shown', () => {
  expect(hideSecrets({env, args: ['$PASS']})).toMatchObject({args: ['hunter2']});
  expect(hideSecrets({args: ['$(COLOR)']})).toEqual(CONFIG);
});

// Proves: EnvVar.value
test('values from env files and commands that contain them are hidden', () => {
  const fileKeyRef = {volumeName: 'v', path: 'a.env', key: 'k'};
  const fromFile = [
    {name: 'PASS', valueFrom: {fileKeyRef}},
    {name: 'COLOR', value: '$(PASS)'},
  ];

  expect(hideSecrets({env: fromFile, args: ['$(PASS)']})).toEqual({
    command: ['<hidden>'],
    args: ['<hidden>'],
    envs: CONFIG.envs.map(({key}) => ({key, value: '<hidden>'})),
  });
});
